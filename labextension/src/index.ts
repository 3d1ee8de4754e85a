import {
  ILayoutRestorer,
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { INotebookTracker, NotebookActions } from '@jupyterlab/notebook';
import { LabIcon } from '@jupyterlab/ui-components';
import { Clusters } from './clusters';
import { ClustersPanel } from './panel';
import css from '../style/panel.css';
import svg from './icon';

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
  style.textContent = css;
  document.head.append(style);
}

const plugin: JupyterFrontEndPlugin<void> = {
  id: 'polyxeus:clusters',
  description: 'Lists, starts, scales and stops clusters of polyxeus.',
  autoStart: true,
  optional: [ILayoutRestorer, INotebookTracker],
  activate: (
    app: JupyterFrontEnd,
    restorer: ILayoutRestorer | null,
    notebooks: INotebookTracker | null
  ) => {
    addStyle();
    const panel = new ClustersPanel(new Clusters(app.serviceManager.serverSettings), code =>
      insertInto(notebooks, code)
    );
    panel.id = 'polyxeus-clusters';
    panel.title.icon = new LabIcon({ name: 'polyxeus:clusters', svgstr: svg });
    panel.title.caption = 'Clusters of polyxeus';
    app.shell.add(panel, 'left', { rank: 650 });
    restorer?.add(panel, 'polyxeus-clusters');
  }
};

export default plugin;
