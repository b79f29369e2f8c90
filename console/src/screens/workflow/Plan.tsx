/** What a version would mean to the executions that are under way: in groups, each with what a move does or why it cannot. */
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client";
import { number } from "../../lib/time";
import { inWords } from "../../words/events";
import { workflowWords as words } from "../../words/workflow";

type Plan = Schemas["DeployPlan"];
type Group = Plan["groups"][number];

/** Groups that run this very version are none that could be moved. */
const isThere = (group: Group) => group.code === "same_version";
export const count = (groups: readonly Group[]) => groups.reduce((sum, one) => sum + one.count, 0);

export function splitPlan(plan: Plan): { can: Group[]; cannot: Group[]; there: Group[] } {
  return {
    can: plan.groups.filter((one) => one.can_move),
    cannot: plan.groups.filter((one) => !one.can_move && !isThere(one)),
    there: plan.groups.filter(isThere),
  };
}

/** Nodes at which executions stand that the version does not have, without their rounds. */
export function lostNodes(plan: Plan): string[] {
  const lost = plan.groups.filter((one) => one.code === "node_gone").flatMap((one) => one.nodes ?? []);
  return [...new Set(lost.map(nodeOf))];
}

export function PlanGroups({ plan }: { plan: Plan }) {
  const { can, cannot, there } = splitPlan(plan);
  if (plan.total === 0) return <p className="soft">{words.plan.none}</p>;
  return (
    <>
      {plan.more && <p className="soft">{words.someCounted}</p>}
      <Groups title={words.plan.can(count(can))} groups={can} />
      <Groups title={words.plan.cannot(count(cannot))} groups={cannot} />
      {there.length > 0 && <p className="soft">{words.plan.there(count(there))}</p>}
    </>
  );
}

function Groups({ title, groups }: { title: string; groups: readonly Group[] }) {
  if (groups.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul className="differences">
        {groups.map((one) => (
          <li key={`${one.kind} ${one.code} ${one.nodes?.join()} ${one.runs?.join()} ${one.passed?.join()}`}>
            <p>
              <strong>{number(one.count)}</strong> {words.plan.kinds[one.kind]?.(one.count)}{" "}
              {(one.nodes ?? []).length > 0 && <bdi>{words.plan.at(names(one.nodes))}</bdi>}
            </p>
            {one.reason && <p className="wrong">{inWords(one.reason)}</p>}
            {(["asked_again", "runs", "passed"] as const).map(
              (what) =>
                (one[what] ?? []).length > 0 && (
                  <p className="soft" key={what}>
                    {words.plan[what](names(one[what]))}
                  </p>
                ),
            )}
            {one.sample?.[0] && (
              <Link to="/executions/$id" params={{ id: one.sample[0] }} search={{}} className="soft">
                {words.plan.sample}
              </Link>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** The node of a place such as `review:orders.*`. */
function nodeOf(place: string): string {
  return place.split(":")[0] ?? place;
}

function names(places: readonly string[] | undefined): string {
  return [...new Set((places ?? []).map(nodeOf))].join(", ");
}
