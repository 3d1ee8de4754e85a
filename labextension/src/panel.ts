import {Dialog, InputDialog, showDialog, showErrorMessage} from '@jupyterlab/apputils';
import {IMessage, Widget} from '@lumino/widgets';

import {Clusters, ICluster, IClusters, nameOf} from './clusters';
import {StartForm} from './start_form';

const INTERVAL = 3000; // milliseconds between two looks at what runs, while the tab is shown

/** The tab: what runs, and buttons to start, scale and stop, and to insert code. */
export class ClustersPanel extends Widget {
  private known: IClusters = { clusters: [], profiles: ['default'] };
  private shown = '';
  private timer = 0;
  private readonly problem = element('p', 'px-problem');
  private readonly work = element('p', 'px-work');
  private readonly list = element('ul', 'px-list');
  private readonly startButton = button('Start a cluster', 'Start …', () => this.start());

  /**
   * insert     puts code into the notebook that was used last; gives false where there is none
   * dashboard  shows the dashboard of a cluster
   */
  constructor(
      private readonly clusters: Clusters, private readonly insert: (code: string) => boolean,
      private readonly dashboard: (cluster: ICluster) => void) {
    super();
    this.addClass('px-Clusters');
    const head = element('div', 'px-head');
    head.append(heading('Clusters of polyxeus'), this.startButton);
    this.problem.setAttribute('role', 'alert');
    this.work.setAttribute('role', 'status');
    this.node.append(head, this.work, this.problem, this.list);
    this.showAll();
  }

  protected onAfterAttach(message: IMessage): void {
    if (this.isVisible) {
      this.onAfterShow(message);
    }
  }

  protected onAfterShow(_message: IMessage): void {
    void this.look();
  }

  protected onAfterHide(_message: IMessage): void {
    window.clearTimeout(this.timer);
  }

  dispose(): void {
    window.clearTimeout(this.timer);
    super.dispose();
  }

  /** Looks what runs, now and from time to time while the tab is shown. */
  private async look(): Promise<void> {
    window.clearTimeout(this.timer);
    try {
      this.known = await this.clusters.list();
      this.problem.textContent = '';
    } catch (error) {
      this.problem.textContent = textOf(error);
    }
    if (this.isDisposed) {
      return;
    }
    this.showAll();
    if (this.isVisible) {
      window.clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.look(), INTERVAL);
    }
  }

  /** Does something that takes time, says so, and looks at the result. */
  private async act(what: string, action: () => Promise<unknown>): Promise<void> {
    this.work.textContent = `${what} …`;
    this.startButton.disabled = true;
    try {
      await action();
    } catch (error) {
      await showErrorMessage(`${what}: failed`, textOf(error));
    } finally {
      this.work.textContent = '';
      this.startButton.disabled = false;
      await this.look();
    }
  }

  private async start(): Promise<void> {
    const result = await showDialog({
      title: 'Start a cluster',
      body: new StartForm(this.known.profiles),
      buttons: [Dialog.cancelButton(), Dialog.okButton({ label: 'Start' })]
    });
    const wanted = result.value;
    if (result.button.accept && wanted) {
      await this.act('Starting a cluster', () => this.clusters.start(wanted));
    }
  }

  private async scale(cluster: ICluster): Promise<void> {
    const result = await InputDialog.getNumber({
      title: `Scale ${nameOf(cluster)}`,
      label: 'Number of engines',
      value: cluster.n,
      okLabel: 'Scale'
    });
    const n = result.value;
    if (result.button.accept && n !== null && n !== cluster.n) {
      await this.act(`Scaling ${nameOf(cluster)}`, () => this.clusters.scale(cluster.key, n));
    }
  }

  private async stop(cluster: ICluster): Promise<void> {
    const result = await showDialog({
      title: `Stop ${nameOf(cluster)}?`,
      body: 'The variables on its engines are lost.',
      buttons: [Dialog.cancelButton(), Dialog.warnButton({ label: 'Stop' })]
    });
    if (result.button.accept) {
      await this.act(`Stopping ${nameOf(cluster)}`, () => this.clusters.stop(cluster.key));
    }
  }

  private async insertCode(cluster: ICluster): Promise<void> {
    if (!this.insert(cluster.code)) {
      await showErrorMessage('No notebook is open', 'Open a notebook, and try again.');
    }
  }

  private showAll(): void {
    const text = JSON.stringify(this.known.clusters);
    if (text === this.shown) {
      return; // the button that has the keyboard keeps it
    }
    this.shown = text;
    const rows = this.known.clusters.map(each => this.row(each));
    if (rows.length === 0) {
      const none = element('li', 'px-none');
      none.textContent = 'No cluster is running.';
      rows.push(none);
    }
    this.list.replaceChildren(...rows);
  }

  private row(cluster: ICluster): HTMLElement {
    const row = element('li', 'px-cluster');
    const title = element('div', 'px-name');
    title.textContent = nameOf(cluster);
    title.title = cluster.profile_dir;
    const facts = element('div', 'px-facts');
    const engines = cluster.n === 1 ? '1 engine' : `${cluster.n} engines`;
    facts.textContent = `${engines} · ${cluster.launcher}`;
    facts.title = cluster.owner ? `ends with ${cluster.owner}` : 'runs until it is stopped';
    const buttons = element('div', 'px-buttons');
    buttons.append(
        button('Insert code that connects to it', 'Insert code', () => this.insertCode(cluster)),
        button('Show what its engines do', 'Dashboard', async () => this.dashboard(cluster)),
        button('Change the number of engines', 'Scale …', () => this.scale(cluster)),
        button('Stop the cluster', 'Stop …', () => this.stop(cluster)));
    row.append(title, facts, buttons);
    return row;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function element(tag: string, name: string): HTMLElement {
  const node = document.createElement(tag);
  node.className = name;
  return node;
}

function heading(text: string): HTMLElement {
  const node = element('h2', 'px-heading');
  node.textContent = text;
  return node;
}

function button(title: string, text: string, action: () => Promise<void>): HTMLButtonElement {
  const node = document.createElement('button');
  node.className = 'jp-mod-styled jp-mod-minimal';
  node.title = title;
  node.textContent = text;
  node.addEventListener('click', () => void action());
  return node;
}
