import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';

/** A running cluster, as python/polyxeus/lab/clusters.py describes it. */
export interface ICluster {
  key: string;
  profile: string;
  profile_dir: string;
  cluster_id: string;
  n: number;
  launcher: string;
  is_world: boolean;
  owner: string | null;
  host: string|null;
  code: string;
}

/** What the user calls a cluster: its profile, with its id where it has one. */
export function nameOf(cluster: ICluster): string {
  return cluster.cluster_id ? `${cluster.profile}: ${cluster.cluster_id}` : cluster.profile;
}

/** What runs, and the profiles that a cluster can be started with. */
export interface IClusters {
  clusters: ICluster[];
  profiles: string[];
}

/** What to start; null: what the profile says. */
export interface IStart {
  profile: string;
  n: number | null;
  cluster_id: string;
  engines: string | null;
}

/** The clusters that the Jupyter server reaches. Each call throws an Error with a sentence for the user. */
export class Clusters {
  constructor(private readonly settings: ServerConnection.ISettings) {}

  list(): Promise<IClusters> {
    return this.request<IClusters>('GET', []);
  }

  start(wanted: IStart): Promise<ICluster> {
    return this.request<ICluster>('POST', [], wanted);
  }

  scale(key: string, n: number): Promise<ICluster> {
    return this.request<ICluster>('PATCH', [key], { n });
  }

  stop(key: string): Promise<void> {
    return this.request<void>('DELETE', [key]);
  }

  /** Interrupts what an engine runs. */
  interrupt(key: string, engine: number): Promise<void> {
    return this.request<void>('POST', [key, 'engines', String(engine), 'interrupt']);
  }

  /** The call stack of an engine, or the end of its log. */
  async read(key: string, engine: number, what: 'stack' | 'log'): Promise<string> {
    const answer = await this.request<{ text: string }>('GET', [key, 'engines', String(engine), what]);
    return answer.text;
  }

  /** The address of the page that shows the cluster, on the Jupyter server. */
  dashboard(key: string): string { return this.address(key, 'dashboard/'); }

  private address(...path: string[]): string {
    return URLExt.join(this.settings.baseUrl, 'polyxeus', 'clusters', ...path);
  }

  private async request<T>(method: string, path: string[], body?: object): Promise<T> {
    const url = this.address(...path);
    const init = { method, body: body ? JSON.stringify(body) : undefined };
    const response = await ServerConnection.makeRequest(url, init, this.settings);
    const text = await response.text();
    if (!response.ok) {
      throw new Error(sentence(text) || `${response.status} ${response.statusText}`);
    }
    return (text ? JSON.parse(text) : undefined) as T;
  }
}

/** The message of an error's body. */
function sentence(text: string): string {
  try {
    return String(JSON.parse(text).message ?? '');
  } catch {
    return '';
  }
}
