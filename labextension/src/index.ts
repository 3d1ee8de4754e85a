import {ILayoutRestorer, JupyterFrontEnd, JupyterFrontEndPlugin} from '@jupyterlab/application';
import {INotebookTracker, NotebookActions} from '@jupyterlab/notebook';
import {LabIcon} from '@jupyterlab/ui-components';

import modeCss from '../style/mode.css';
import panelCss from '../style/panel.css';
import ranksCss from '../style/ranks.css';
import tabsCss from '../style/tabs.css';

import {Clusters} from './clusters';
import {Dashboards} from './dashboards';
import svg from './icon';
import {addModeSwitch} from './mode_switch';
import {ClustersPanel} from './panel';
import {RankConsoles} from './rank_consoles';
import {RankStrips} from './rank_strips';
import {RankTabs} from './rank_tabs';

/** Puts code into a new cell below the active one, or into that where it is empty. */
function insertInto(notebooks: INotebookTracker | null, code: string): boolean {
  const notebook = notebooks?.currentWidget?.content;
  if (!notebook) {
    return false;
  }
  const active = notebook.activeCell;
  if (!active || active.model.type !== 'code' || active.model.sharedModel.getSource().trim()) {
    NotebookActions.insertBelow(notebook);
  }
  notebook.activeCell?.model.sharedModel.setSource(code);
  return true;
}

function addStyle(): void {
  const style = document.createElement('style');
  style.textContent = panelCss + modeCss + ranksCss + tabsCss;
  document.head.append(style);
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'polyxeus:clusters',
  description: 'Lists, starts, scales, shows and stops clusters of polyxeus; chooses where cells run, and shows what ranks do and print.',
  autoStart: true,
  optional: [ILayoutRestorer, INotebookTracker],
  activate:
      (app: JupyterFrontEnd, restorer: ILayoutRestorer|null, notebooks: INotebookTracker|null) => {
        addStyle();
        const clusters = new Clusters(app.serviceManager.serverSettings);
        const icon = new LabIcon({name: 'polyxeus:clusters', svgstr: svg});
        const dashboards = new Dashboards(app, clusters, icon);
        const panel = new ClustersPanel(
            clusters, code => insertInto(notebooks, code), cluster => dashboards.show(cluster));
        panel.id = 'polyxeus-clusters';
        panel.title.icon = icon;
        panel.title.caption = 'Clusters of polyxeus';
        app.shell.add(panel, 'left', {rank: 650});
        restorer?.add(panel, 'polyxeus-clusters');
        app.docRegistry.addWidgetExtension('Notebook', {createNew: addModeSwitch});
        const consoles = new RankConsoles(app, clusters);
        app.docRegistry.addWidgetExtension(
            'Notebook', {createNew: panel => new RankStrips(panel, clusters, consoles)});
        app.docRegistry.addWidgetExtension('Notebook', {createNew: panel => new RankTabs(panel)});
      }
};

export default plugin;
