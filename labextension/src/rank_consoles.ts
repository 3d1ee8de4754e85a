import { JupyterFrontEnd } from '@jupyterlab/application';
import { INotebookPanel } from '@jupyterlab/notebook';
import { IKernelConnection } from '@jupyterlab/services';
import { ISignal } from '@lumino/signaling';

import { Clusters, nameOf } from './clusters';

/** What is used of a console of JupyterLab. */
interface IConsolePanel {
  readonly console: { inject(code: string): Promise<unknown> };
  readonly sessionContext: {
    readonly ready: Promise<void>;
    readonly session: { readonly kernel: IKernelConnection | null } | null;
    readonly statusChanged: ISignal<string>;
  };
}

/**
 * Opens consoles whose cells run on one rank. A console has a kernel of the same kind as the notebook; this kernel is a client of the
 * cluster, so the rank may be on any host, and its cells wait while the rank runs others. It ends with the console.
 */
export class RankConsoles {
  constructor(private readonly app: JupyterFrontEnd, private readonly clusters: Clusters) {}

  /** errors  Error: a sentence for the user */
  async open(key: string, rank: number, notebook: INotebookPanel): Promise<void> {
    const cluster = (await this.clusters.list()).clusters.find(each => each.key === key);
    if (!cluster) {
      throw new Error('This cluster does not run any more.');
    }
    const made = await this.app.commands.execute('console:create', {
      name: `Rank ${rank}: ${nameOf(cluster)}`,
      basePath: notebook.context.path.replace(/[^/]*$/, ''),
      kernelPreference: { name: notebook.sessionContext.session?.kernel?.name, shutdownOnDispose: true },
      ref: notebook.id,
      insertMode: 'split-bottom'
    });
    const { console, sessionContext } = made as IConsolePanel;
    const connect = (): void => {
      void console.inject(cluster.code);
      void console.inject(`%pxmode ${rank}`); // in a cell of its own: it applies from the next cell on
    };
    await sessionContext.ready;
    await sessionContext.session?.kernel?.info;
    connect();
    let isRestarting = false; // a restarted kernel has forgotten the mode
    sessionContext.statusChanged.connect((_sender, status) => {
      if (isRestarting && status === 'idle') {
        connect();
      }
      isRestarting = status.endsWith('restarting') || (isRestarting && status !== 'idle');
    }, sessionContext);
  }
}
