/** Charts of throughput and of the time that people take: drawn on a canvas, said in a sentence below. */
import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Schemas } from "../../api/client";
import { usePreferences } from "../../lib/preferences";
import { length, number } from "../../lib/time";
import { ops } from "../../words/operations";
import { pauses, type Series, throughput, totals } from "./series";

const words = ops.charts;
const HEIGHT = 180;

export default function Charts({ stats }: { stats: Schemas["Stats"] }) {
  const sum = totals(stats);
  return (
    <div className="charts">
      <Chart
        title={words.throughput}
        said={words.throughputSum(sum.started, sum.finished, sum.failed)}
        quiet={words.quiet}
        series={throughput(stats)}
        names={[words.started, words.finished, words.failed]}
        colours={["--go", "--good", "--bad"]}
        shown={(value) => number(value)}
        bars
      />
      <Chart
        title={words.pauses}
        said={words.pauseSum(sum.asked, sum.answered, sum.pause === null ? "" : length(sum.pause))}
        quiet={words.noAnswer}
        series={pauses(stats)}
        names={[words.average, words.longest]}
        colours={["--wait", "--strong"]}
        shown={(value) => length(value)}
      />
      {sum.capped && <p className="soft">{words.capped}</p>}
    </div>
  );
}

interface ChartProps {
  title: string;
  said: string;
  quiet: string;
  series: Series;
  names: readonly string[];
  colours: readonly string[];
  shown: (value: number) => string;
  bars?: boolean;
}

function Chart({ title, said, quiet, series, names, colours, shown, bars = false }: ChartProps) {
  const at = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const { theme, zone } = usePreferences();
  const empty = series.columns.every((column) => column.every((value) => !value));
  // biome-ignore lint/correctness/useExhaustiveDependencies: data has an effect of its own; the rest are constants
  useEffect(() => {
    const place = at.current;
    if (!place || empty) return;
    const build = () => {
      chart.current?.destroy();
      chart.current = draw(place, series, names, colours, shown, bars, zone === "utc");
    };
    build();
    const sizes = new ResizeObserver(() => chart.current?.setSize({ width: place.clientWidth, height: HEIGHT }));
    sizes.observe(place);
    const scheme = window.matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", build);
    return () => {
      sizes.disconnect();
      scheme.removeEventListener("change", build);
      chart.current?.destroy();
      chart.current = null;
    };
  }, [theme, zone, empty]);
  useEffect(() => {
    chart.current?.setData([series.times, ...series.columns]);
  }, [series]);
  return (
    <figure className="sheet chart">
      <figcaption>
        <h3>{title}</h3>
        <span className="legend" aria-hidden="true">
          {names.map((name, i) => (
            <span key={name}>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                <rect width="10" height="10" rx="2" fill={`var(${colours[i]})`} />
              </svg>
              {name}
            </span>
          ))}
        </span>
      </figcaption>
      {empty ? <p className="soft chart-quiet">{quiet}</p> : <div ref={at} className="plot" aria-hidden="true" />}
      <p className="soft chart-said">{said}</p>
    </figure>
  );
}

/** Colours of the theme as they are now: a canvas knows no variables. */
function colour(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function draw(
  place: HTMLElement,
  series: Series,
  names: readonly string[],
  colours: readonly string[],
  shown: (value: number) => string,
  bars: boolean,
  utc: boolean,
): uPlot {
  const [line, soft] = [colour("--line"), colour("--soft")];
  const axis = { stroke: soft, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } };
  const form = new Intl.DateTimeFormat(undefined, {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    ...(utc ? { timeZone: "UTC" } : {}),
  });
  const days = new Intl.DateTimeFormat(undefined, {
    day: "numeric",
    month: "short",
    ...(utc ? { timeZone: "UTC" } : {}),
  });
  const isLong = (series.times.at(-1) ?? 0) - (series.times[0] ?? 0) > 2 * 86_400;
  return new uPlot(
    {
      width: place.clientWidth,
      height: HEIGHT,
      padding: [8, 20, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { y: { range: (_, __, most) => [0, Math.max(most * 1.1, 1)] } },
      axes: [
        {
          ...axis,
          space: 64,
          size: 28,
          values: (_, at) => at.map((one) => (isLong ? days : form).format(one * 1_000)),
        },
        {
          ...axis,
          size: bars ? 44 : 64,
          incrs: bars ? [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000] : TIMES,
          values: (_, at) => at.map(shown),
        },
      ],
      series: [
        {},
        ...names.map((label, i) => ({
          label,
          stroke: colour(colours[i] ?? "--ink"),
          width: 1.6,
          points: { show: !bars, size: 5 },
          spanGaps: false,
        })),
      ],
    },
    [series.times, ...series.columns],
    place,
  );
}

const TIMES = [
  ...[100, 200, 500, 1_000, 5_000, 15_000, 30_000],
  ...[1, 5, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 6, 12, 24, 48, 168, 336].map((hours) => hours * 3_600_000),
];
