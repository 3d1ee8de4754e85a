import {JupyterFrontEnd} from '@jupyterlab/application';
import {IFrame, LabIcon} from '@jupyterlab/ui-components';

import {Clusters, ICluster, nameOf} from './clusters';

/**
 * What the page needs: it asks before it ends engines (modals), and its address is Jupyter's own.
 */
const SANDBOX = ['allow-scripts', 'allow-same-origin', 'allow-modals', 'allow-forms'];

/** The dashboards of clusters, each in a tab of its own of the main area. */
export class Dashboards {
  private readonly open = new Map<string, IFrame>();

  constructor(
      private readonly app: JupyterFrontEnd, private readonly clusters: Clusters,
      private readonly icon: LabIcon) {}

  /** Shows the tab of this cluster; one that is open already comes to the front. */
  show(cluster: ICluster): void {
    let tab = this.open.get(cluster.key);
    if (!tab || tab.isDisposed) {
      tab = new IFrame({sandbox: SANDBOX});
      tab.id = `polyxeus-dashboard-${cluster.key}`;
      tab.title.label = `Dashboard: ${nameOf(cluster)}`;
      tab.title.icon = this.icon;
      tab.title.closable = true;
      tab.url = this.clusters.dashboard(cluster.key);
      this.open.set(cluster.key, tab);
      this.app.shell.add(tab, 'main');
    }
    this.app.shell.activateById(tab.id);
  }
}
