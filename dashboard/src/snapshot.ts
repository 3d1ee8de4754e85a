// What the controller sends about once a second (controller/sight/snapshot_json.hpp). Members that
// are 0, empty, false or not known are left out of the rows of lists. All texts of engines and
// clients are shown as text nodes only.

export interface WaitingCall {
  call: string;
  seconds?: number;
  group?: string;
  size?: number;
  peer?: number|'any';
  tag?: number;
  bytes?: number;
  count?: number;
}

export interface Gpu {
  number?: number;
  name?: string;
  busy?: number;
  memory?: number;
  used_memory?: number;
}

export interface Moved {
  socket?: number;
  memory?: number;
  mpi?: number;
}

export interface Engine {
  id: number;
  state: 'idle'|'busy'|'silent'|'unknown';
  host?: string;
  world?: string;
  rank?: number;
  pid?: number;
  language?: string;
  mpi_library?: string;
  gpus?: string;
  state_seconds?: number;
  is_drained?: boolean;
  age?: number;
  measured_ago?: number;
  cpu_share?: number;
  tasks?: number;
  direct?: number;
  finished_total?: number;
  failed_total?: number;
  process?: {memory?: number; cpu?: number; threads?: number; descriptors?: number};
  gpu_use?: Gpu[];
  msg_id?: string;
  runs?: string;
  runs_for?: number;
  queued?: number;
  line?: string;
  holds_lock?: boolean;
  mpi?: WaitingCall;
  torch?: WaitingCall;
  requests?: number;
  errors?: number;
  in ?: Moved;
  out?: Moved;
  last_error?: string;
}

export interface Host {
  name?: string;
  engines?: number;
  busy?: number;
  engine_memory?: number;
  engine_cpu?: number;
  memory?: number;
  free_memory?: number;
  cores?: number;
  load?: number;
}

export interface Client {
  session?: string;
  name?: string;
  unfinished?: number;
  submitted_total?: number;
  failed_total?: number;
  last_seen?: number;
}

export interface Task {
  msg_id?: string;
  engine?: number;
  label?: string;
  kind?: string;
  session?: string;
  is_ok: boolean;
  submitted?: number;
  started?: number;
  ended?: number;
}

export interface CellPart {
  engine: number;
  state?: string;
  seconds?: number;
  output?: string;
  error?: string;
}

export interface Cell {
  id?: string;
  session?: string;
  source?: string;
  submitted?: number;
  engines?: number;
  unfinished?: number;
  failed?: number;
  parts: CellPart[];
}

export interface ClusterEvent {
  number: number;
  time: number;
  kind: string;
  engine?: number;
  host?: string;
  text: string;
}

export interface Durations {
  count: number;
  sum: number;
  quantiles: {'0.5': number; '0.9': number; '0.99': number};
}

export interface Snapshot {
  number: number;
  time: number;
  interval: number;
  controller: {
    version: string; host: string; pid: number; started: number; memory: number | null;
    cpu: number | null;
    threads: number | null;
    descriptors: number | null;
    cpu_share: number;
    bad_messages_total: number;
    lost_records_total: number;
    in_bytes_total: number;
    out_bytes_total: number;
  };
  work: {
    queued: number; running: number; direct: number; submitted_total: number;
    finished_total: number;
    failed_total: number;
    assigned_total: number;
    retried_total: number;
    submitted_rate: number;
    finished_rate: number;
  };
  engine_count: number;
  engines: Engine[];
  hosts: Host[];
  clients: Client[];
  finished: Task[];
  finished_left_out: number;
  cells: Cell[];
  events: ClusterEvent[];
  durations_total: Durations;
  queueing_total: Durations;
}

// What a person sees of an engine: a busy one that waits in a call of MPI or torch is shown as
// such.
export const kinds = ['idle', 'busy', 'waits', 'silent', 'unknown'] as const;
export type Kind = (typeof kinds)[number];

export function waitOf(engine: Engine): WaitingCall|undefined { return engine.mpi ?? engine.torch; }

export function kindOf(engine: Engine): Kind {
  if (engine.state === 'busy' && waitOf(engine)) return 'waits';
  return engine.state;
}
