import {kindOf, kinds, type Snapshot, type Task} from './snapshot';

// What this page remembers of the snapshots that it has got; all of it is bounded.

const mostPoints = 900;  // of a series: a quarter of an hour
const mostTasks = 50000;
const mostColumns = 600;      // of rank x time
const mostSilentSeconds = 3;  // a longer gap is shown as one

// Series over time, as uPlot takes them: null is a gap.
export class Series {
  times: number[] = [];
  private values = new Map<string, (number | null)[]>();

  add(time: number, point: Record<string, number|null|undefined>): void {
    this.times.push(time);
    for (const name of Object.keys(point)) {
      if (!this.values.has(name)) {
        this.values.set(name, new Array(this.times.length - 1).fill(null));
      }
    }
    for (const [name, list] of this.values) list.push(point[name] ?? null);
    if (this.times.length <= mostPoints) return;
    this.times.shift();
    for (const list of this.values.values()) list.shift();
  }

  of(name: string): (number|null)[] {
    return this.values.get(name) ?? new Array(this.times.length).fill(null);
  }
}

// What each engine did at each moment: a column of kinds (index in `kinds`, 255: not there) for the
// engines of `rows`.
export interface Column {
  time: number;
  states: Uint8Array;
}

export class History {
  work = new Series();
  hosts = new Map<string, Series>();
  tasks: Task[] = [];
  lost = 0;             // tasks that ended and are not in `tasks`
  rows: number[] = [];  // engine ids
  columns: Column[] = [];
  labels = new Map < string, {
    count: number;
    failed: number;
    seconds: number
  }
  > ();
  private last?: Snapshot;

  add(snapshot: Snapshot): void {
    const last = this.last;
    if (last && snapshot.controller.started !== last.controller.started) {
      this.tasks = [];  // another controller
    }
    if (last && snapshot.time - last.time > mostSilentSeconds) this.addGap(last, snapshot);
    this.last = snapshot;
    this.addWork(snapshot);
    this.addHosts(snapshot);
    this.addTasks(snapshot);
    this.addColumn(snapshot);
  }

  private addGap(last: Snapshot, next: Snapshot): void {
    const time = (last.time + next.time) / 2;
    this.work.add(time, {});
    for (const series of this.hosts.values()) series.add(time, {});
  }

  private addWork(snapshot: Snapshot): void {
    const {work, durations_total: durations, queueing_total: queueing} = snapshot;
    this.work.add(snapshot.time, {
      queued: work.queued,
      running: work.running,
      direct: work.direct,
      submitted: work.submitted_rate,
      finished: work.finished_rate,
      median: durations.count > 0 ? durations.quantiles['0.5'] : null,
      slow: durations.count > 0 ? durations.quantiles['0.99'] : null,
      queueing: queueing.count > 0 ? queueing.quantiles['0.5'] : null
    });
  }

  private addHosts(snapshot: Snapshot): void {
    for (const host of snapshot.hosts) {
      const name = host.name ?? '';
      let series = this.hosts.get(name);
      if (!series) this.hosts.set(name, (series = new Series()));
      series.add(snapshot.time, {memory: host.engine_memory ?? 0, cpu: host.engine_cpu ?? 0});
    }
  }

  private addTasks(snapshot: Snapshot): void {
    this.lost += snapshot.finished_left_out;
    for (const task of snapshot.finished) {
      this.tasks.push(task);
      const label = labelOf(task);
      const sum = this.labels.get(label) ?? {count: 0, failed: 0, seconds: 0};
      sum.count += 1;
      sum.failed += task.is_ok ? 0 : 1;
      sum.seconds += Math.max(0, (task.ended ?? 0) - (task.started ?? 0));
      if (this.labels.has(label) || this.labels.size < 1000) this.labels.set(label, sum);
    }
    if (this.tasks.length > mostTasks) this.tasks.splice(0, this.tasks.length - mostTasks);
  }

  private addColumn(snapshot: Snapshot): void {
    const engines = [...snapshot.engines].sort(byRank);
    const rows = engines.map(engine => engine.id);
    if (rows.length !== this.rows.length || rows.some((id, i) => id !== this.rows[i])) {
      this.reorder(rows);
    }
    const states = Uint8Array.from(engines, engine => kinds.indexOf(kindOf(engine)));
    this.columns.push({time: snapshot.time, states});
    if (this.columns.length > mostColumns) this.columns.shift();
  }

  // Engines have come or gone: the columns so far get the rows of now.
  private reorder(rows: number[]): void {
    const place = new Map(this.rows.map((id, i) => [id, i]));
    for (const column of this.columns) {
      column.states = Uint8Array.from(rows, id => {
        const row = place.get(id);
        return row === undefined ? 255 : column.states[row];
      });
    }
    this.rows = rows;
  }
}

function byRank(a: {world?: string; rank?: number; id: number}, b: typeof a): number {
  if (a.world !== b.world) return (a.world ?? '') < (b.world ?? '') ? -1 : 1;
  return (a.rank ?? a.id) - (b.rank ?? b.id) || a.id - b.id;
}

export function labelOf(task: Task): string { return task.label || task.kind || 'task'; }
