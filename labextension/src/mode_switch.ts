import { InputDialog, Notification } from '@jupyterlab/apputils';
import { INotebookPanel } from '@jupyterlab/notebook';
import { IIopubMessage, IKernelConnection } from '@jupyterlab/services';
import { Widget } from '@lumino/widgets';

import { MissedCells } from './missed_cells';
import { codeFor, keepMode, MODE_EXPRESSION, modeIn, readMode } from './modes';

const OTHER = 'engines …';
const CHANGES_MODE = /%(pxmode|autopx)/; // in a cell: then the kernel is asked for its mode
const MOST_TRIES = 3; // of a request that the failure of an earlier cell has aborted

/** The control in a notebook's toolbar that shows and sets where its cells run. */
export class ModeSwitch extends Widget {
  private readonly missed: MissedCells;
  private readonly select = document.createElement('select');

  constructor(private readonly panel: INotebookPanel) {
    super();
    this.missed = new MissedCells(panel);
    this.addClass('px-ModeSwitch');
    this.select.setAttribute('aria-label', 'Where cells run');
    this.select.title =
        'Where cells run: here, in the notebook\'s kernel, or on the engines of a cluster of polyxeus';
    this.select.addEventListener('change', () => void this.choose());
    this.node.append(this.select);
    this.show('here');
    panel.sessionContext.connectionStatusChanged.connect(this.onConnection, this);
    panel.sessionContext.iopubMessage.connect(this.onMessage, this);
    void panel.context.ready.then(() => this.apply());
  }

  private get kernel(): IKernelConnection|null {
    return this.panel.sessionContext.session?.kernel ?? null;
  }

  /** A kernel that has just been started or restarted gets the mode before any cell does. */
  private onConnection(_sender: unknown, status: string): void {
    if (status === 'connected' && this.panel.context.isReady) {
      this.apply();
    }
  }

  private onMessage(_sender: unknown, message: IIopubMessage): void {
    const isInput = message.header.msg_type === 'execute_input';
    if (isInput && CHANGES_MODE.test(message.content.code ?? '')) {
      void this.request(null).then(mode => {
        if (mode && modeIn(this.panel.context.model)) {
          keepMode(this.panel.context.model, mode); // what is set by hand replaces what the metadata says
        }
      });
    }
  }

  /** Sets the mode of the notebook's metadata in the kernel; without one, shows that of the kernel. */
  private apply(): void {
    const kernel = this.kernel;
    if (!kernel || kernel.connectionStatus !== 'connected') {
      return;
    }
    const mode = modeIn(this.panel.context.model);
    if (mode && mode !== 'here') {
      void this.request(mode);
      void this.missed.look(kernel);
      return;
    }
    void kernel.info.then(info => {
      const isPython = info.language_info?.name === 'python';
      this.display(isPython);
      if (isPython && kernel === this.kernel) {
        void this.request(null);
        void this.missed.look(kernel);
      }
    });
  }

  /** The user has chosen. */
  private async choose(): Promise<void> {
    let wanted: string|null = this.select.value;
    if (wanted === OTHER) {
      const answer = await InputDialog.getText({
        title: 'Where cells run',
        label: 'Engines, for example 0-3 or 0,2',
        okLabel: 'Run cells there'
      });
      wanted = answer.button.accept ? readMode(answer.value) : null;
      if (answer.button.accept && !wanted) {
        Notification.error(`"${answer.value}" does not name engines: write, for example, 0-3 or 0,2`);
      }
    }
    const mode = await this.request(wanted);
    if (wanted && mode === wanted) {
      keepMode(this.panel.context.model, mode);
    }
  }

  /**
   * Sets the mode in the kernel, and shows and gives the mode in which the kernel is then; null if it cannot be told.
   * mode  null: leaves it as it is
   */
  private async request(mode: string|null, tries = MOST_TRIES): Promise<string|null> {
    const kernel = this.kernel;
    if (!kernel) {
      this.show('here');
      return null;
    }
    if (mode) {
      this.show(mode, true);
    }
    const future = kernel.requestExecute({
      code: mode ? codeFor(mode) : '',
      silent: true,
      store_history: false,
      allow_stdin: false,
      stop_on_error: false,
      user_expressions: { mode: MODE_EXPRESSION }
    });
    let warning = '';
    future.onIOPub = message => {
      if (message.header.msg_type === 'stream' && message.content.name === 'stderr') {
        warning += message.content.text;
      }
    };
    let content;
    try {
      content = (await future.done)?.content;
    } catch {
      return null; // the kernel was restarted or has ended
    }
    if (this.isDisposed || !content) {
      return null;
    }
    if (content.status === 'ok') {
      if (mode && warning.trim()) {
        Notification.warning(warning.trim());
      }
      const told = content.user_expressions?.mode?.data?.['text/plain'];
      const now = readMode(String(told ?? '').replace(/'/g, ''));
      this.show(now ?? 'here');
      return now;
    }
    if (content.status === 'error') {
      Notification.error(`Cells do not run on ${mode} engines: ${content.evalue}`, { autoClose: false });
      return mode ? this.request(null) : null;
    }
    return tries > 1 ? this.request(mode, tries - 1) : null;
  }

  private display(isShown: boolean): void {
    this.node.style.display = isShown ? '' : 'none';
  }

  /** isPending  the kernel has not answered yet */
  private show(mode: string, isPending = false): void {
    const modes = ['here', 'all', ...(['here', 'all'].includes(mode) ? [] : [mode]), OTHER];
    this.select.replaceChildren(...modes.map(each => new Option(each, each)));
    this.select.value = mode;
    this.node.classList.toggle('px-pending', isPending);
    this.node.classList.toggle('px-onEngines', mode !== 'here');
  }
}

/** Adds the control to the toolbar of a notebook. */
export function addModeSwitch(panel: INotebookPanel): ModeSwitch {
  const modeSwitch = new ModeSwitch(panel);
  panel.toolbar.insertItem(10, 'polyxeus-mode', modeSwitch);
  return modeSwitch;
}
