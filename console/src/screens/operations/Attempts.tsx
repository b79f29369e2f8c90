/** Each attempt to send a delivery, the last one first: when, how long, what was answered or went wrong. */
import { useQuery } from "@tanstack/react-query";
import { client, take } from "../../api/client";
import { length, moment } from "../../lib/time";
import { Data, Dialog, Loading, Refused } from "../../parts/Frame";
import { Status } from "../../parts/Status";
import { ops } from "../../words/operations";
import { Row } from "./List";

const words = ops.deliveries;

export function Attempts({ id, close }: { id: string; close: () => void }) {
  const found = useQuery({
    queryKey: ["ops", "delivery", id],
    queryFn: () => take(client.GET("/api/v1/deliveries/{id}", { params: { path: { id } } })),
  });
  const attempts = [...(found.data?.attempts ?? [])].reverse();
  return (
    <Dialog title={words.attemptsTitle(found.data?.destination ?? "")} close={close} side>
      {found.isPending ? (
        <Loading />
      ) : found.error ? (
        <Refused error={found.error} retry={() => void found.refetch()} />
      ) : attempts.length === 0 ? (
        <p>{words.noAttempts}</p>
      ) : (
        <ol className="sheet ops-list" aria-label={words.attemptsList}>
          {attempts.map((one) => (
            <li key={one.at}>
              <Row
                title={
                  <>
                    <Status value={one.error ? "failed" : "completed"} text={one.error ? words.failed : words.taken} />
                    {one.status !== null && <span className="mono">{one.status}</span>}
                  </>
                }
                facts={
                  <>
                    <span>{moment(one.at)}</span>
                    <span>{words.took(length(one.ms))}</span>
                    {one.error && <bdi className="wrong">{one.error}</bdi>}
                  </>
                }
              />
              {one.reply && <Data label={words.reply} value={one.reply} />}
            </li>
          ))}
        </ol>
      )}
    </Dialog>
  );
}
