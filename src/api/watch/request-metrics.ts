import { monitorEventLoopDelay } from 'node:perf_hooks';

/** The upper limits of the buckets, in seconds. The last bucket of the histogram has no limit. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10];

interface Series {
  labels: string;
  count: number;
  sum: number;
  buckets: number[];
}

/** One gauge or counter. */
export interface Gauge {
  name: string;
  help: string;
  type: 'gauge' | 'counter';
  value: number;
}

/** Counts requests by route and status. Labels are routes of the table, so their number is fixed. */
export interface Metrics {
  request(labels: { method: string; route: string; status: number }, seconds: number): void;
  refused(code: string): void;
  render(more: readonly Gauge[]): string;
}

export function createMetrics(): Metrics {
  const requests = new Map<string, Series>();
  const refusals = new Map<string, number>();
  const loopDelay = monitorEventLoopDelay({ resolution: 20 });
  loopDelay.enable();
  return {
    request: ({ method, route, status }, seconds) => {
      const labels = `method="${method}",route="${route}",status="${status}"`;
      const series = requests.get(labels) ?? { labels, count: 0, sum: 0, buckets: BUCKETS.map(() => 0) };
      requests.set(labels, series);
      series.count += 1;
      series.sum += seconds;
      BUCKETS.forEach((bound, index) => {
        if (seconds <= bound) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
      });
    },
    refused: (code) => refusals.set(code, (refusals.get(code) ?? 0) + 1),
    render: (more) =>
      [
        ...histogram([...requests.values()]),
        '# HELP secondwind_http_refused_total Requests that were refused, by problem.',
        '# TYPE secondwind_http_refused_total counter',
        ...[...refusals].map(([code, count]) => `secondwind_http_refused_total{problem="${code}"} ${count}`),
        ...[...processGauges(loopDelay.mean), ...more].flatMap(gaugeLines),
        '',
      ].join('\n'),
  };
}

function histogram(series: readonly Series[]): string[] {
  const name = 'secondwind_http_request_duration_seconds';
  return [
    `# HELP ${name} How long answers took, by route.`,
    `# TYPE ${name} histogram`,
    ...series.flatMap(({ labels, count, sum, buckets }) => [
      ...BUCKETS.map((bound, index) => `${name}_bucket{${labels},le="${bound}"} ${buckets[index] ?? 0}`),
      `${name}_bucket{${labels},le="+Inf"} ${count}`,
      `${name}_sum{${labels}} ${sum}`,
      `${name}_count{${labels}} ${count}`,
    ]),
  ];
}

const gaugeLines = ({ name, help, type, value }: Gauge): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  `${name} ${value}`,
];

function processGauges(loopDelayNs: number): Gauge[] {
  const { rss, heapUsed } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return [
    gauge('process_cpu_seconds_total', 'CPU time of the process.', (user + system) / 1e6, 'counter'),
    gauge('process_resident_memory_bytes', 'Memory of the process.', rss),
    gauge('process_start_time_seconds', 'When the process started.', Date.now() / 1000 - process.uptime()),
    gauge('nodejs_heap_size_used_bytes', 'Heap in use.', heapUsed),
    gauge('nodejs_eventloop_lag_mean_seconds', 'Mean delay of the event loop.', (loopDelayNs || 0) / 1e9),
  ];
}

export const gauge = (name: string, help: string, value: number, type: Gauge['type'] = 'gauge'): Gauge => ({
  name,
  help,
  type,
  value,
});
