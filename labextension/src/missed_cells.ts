import { Notification } from '@jupyterlab/apputils';
import { ICell, INotebookPanel } from '@jupyterlab/notebook';
import { IKernelConnection } from '@jupyterlab/services';

const EXPRESSION = "getattr(getattr(get_ipython(), '_polyxeus_magics', None), 'cells', None)";

/** A cell that ran on engines, as python/polyxeus/magics/cell_records.py has it. */
interface IRecord {
  number: number;
  cell: string | null;
  text: string;
  label: string;
  ended: number | null; // seconds since 1970; null: its kernel ended before
}

/** Offers the output of cells that ran on engines while no page showed the notebook, or when their kernel ended. */
export class MissedCells {
  private readonly offered = new Set<string>();
  private isOpening = true;
  private saved = NaN; // when the file was saved that this page shows, in seconds since 1970

  constructor(private readonly panel: INotebookPanel) {
    void panel.context.ready.then(() => {
      this.saved = Date.parse(panel.context.contentsModel?.last_modified ?? '') / 1000;
    });
  }

  /** Asks the kernel for such cells. Call it when the page has a kernel that was started or connected. */
  async look(kernel: IKernelConnection): Promise<void> {
    const future = kernel.requestExecute({
      code: '',
      silent: true,
      store_history: false,
      allow_stdin: false,
      stop_on_error: false,
      user_expressions: { cells: EXPRESSION }
    });
    let told;
    try {
      told = (await future.done)?.content.user_expressions?.cells?.data?.['application/json'];
    } catch {
      return; // the kernel was restarted or has ended
    }
    const records = (told as { cells?: IRecord[] } | undefined)?.cells ?? [];
    const isOpening = this.isOpening;
    this.isOpening = false;
    const latest = new Map(records.map(each => [each.cell, each]));
    for (const record of latest.values()) {
      const cell = this.panel.content.widgets.find(each => each.model.id === record.cell);
      const key = `${record.label} ${record.ended}`;
      if (cell?.outputArea && this.isMissed(record, cell, isOpening) && !this.offered.has(key)) {
        this.offered.add(key);
        this.offer(record, cell, kernel);
      }
    }
  }

  /** A page that is opened shows what the file has; cells that ended after the file was saved are missing. */
  private isMissed(record: IRecord, cell: ICell, isOpening: boolean): boolean {
    if (!Number.isInteger(record.number)) {
      return false;
    }
    if (record.ended === null) {
      return true;
    }
    return isOpening && record.ended > this.saved && cell.model.executionCount !== record.number;
  }

  private offer(record: IRecord, cell: ICell, kernel: IKernelConnection): void {
    const when = record.ended === null ? 'was running on engines when its kernel ended'
                                       : 'ran on engines after this notebook was last saved';
    Notification.info(`The cell \u201c${record.text}\u201d ${when}.`, {
      autoClose: false,
      actions: [{ label: 'Show its output', callback: () => void this.show(record, cell, kernel) }]
    });
  }

  /** Fills in the output of the cell; waits if it still runs. */
  private async show(record: IRecord, cell: ICell, kernel: IKernelConnection): Promise<void> {
    const area = cell.outputArea;
    if (!area) {
      return;
    }
    const future = kernel.requestExecute({
      code: `%pxmissed ${record.number}`,
      silent: false,
      store_history: false,
      allow_stdin: false,
      stop_on_error: false,
      user_expressions: {}
    });
    area.future = future;
    try {
      await future.done;
      cell.model.executionCount = record.number;
    } catch {
      return; // the kernel was restarted or has ended
    }
  }
}
