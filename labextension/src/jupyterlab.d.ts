// What the tab uses of JupyterLab 4 and Lumino 2, as their own declarations have it. Declared here, as
// their packages bring hundreds of others along, and a build of polyxeus needs none of them.

declare module '@lumino/widgets' {
  export interface IMessage {
    readonly type: string;
  }
  export interface ITitle {
    caption: string;
    closable: boolean;
    label: string;
    icon: import('@jupyterlab/ui-components').LabIcon | undefined;
  }
  export class Widget {
    readonly node: HTMLElement;
    readonly title: ITitle;
    readonly isDisposed: boolean;
    readonly isVisible: boolean;
    id: string;
    addClass(name: string): void;
    setHidden(isHidden: boolean): void;
    dispose(): void;
    protected onAfterAttach(message: IMessage): void;
    protected onAfterShow(message: IMessage): void;
    protected onAfterHide(message: IMessage): void;
  }
  export class Panel extends Widget {
    readonly widgets: ReadonlyArray<Widget>;
    addWidget(widget: Widget): void;
  }
}

declare module '@jupyterlab/ui-components' {
import {Widget} from '@lumino/widgets';

  export class LabIcon {
    constructor(options: { name: string; svgstr: string });
  }
  export class IFrame extends Widget {
    constructor(options: {sandbox: string[]});
    url: string;
  }
}

declare module '@jupyterlab/coreutils' {
  export namespace URLExt {
    function join(...parts: string[]): string;
  }
}

declare module '@lumino/signaling' {
  export interface ISignal<T> {
    connect(slot: (sender: unknown, argument: T) => void, thisArgument: object): boolean;
  }
}

declare module '@jupyterlab/services' {
  export interface IIopubMessage {
    readonly header: { readonly msg_type: string };
    readonly content: {
      readonly code?: string;
      readonly data?: Record<string, unknown>;
      readonly name?: string;
      readonly text?: string;
      readonly transient?: { readonly display_id?: string };
    };
  }
  export interface IExecuteReply {
    readonly content: {
      readonly status: 'ok' | 'error' | 'aborted';
      readonly evalue?: string;
      readonly user_expressions?: Record<string, { data?: Record<string, unknown> } | undefined>;
    };
  }
  export interface IExecuteFuture {
    readonly done: Promise<IExecuteReply | undefined>;
    onIOPub: (message: IIopubMessage) => void;
  }
  export interface IKernelConnection {
    readonly name: string;
    readonly connectionStatus: string;
    readonly info: Promise<{ readonly language_info?: { readonly name: string } }>;
    requestExecute(content: {
      code: string;
      silent: boolean;
      store_history: boolean;
      allow_stdin: boolean;
      stop_on_error: boolean;
      user_expressions: Record<string, string>;
    }): IExecuteFuture;
  }
  export namespace ServerConnection {
    interface ISettings {
      readonly baseUrl: string;
    }
    function makeRequest(url: string, init: RequestInit, settings: ISettings): Promise<Response>;
  }
}

declare module '@jupyterlab/apputils' {
  import { Widget } from '@lumino/widgets';

  export namespace Dialog {
    interface IButton {
      readonly accept: boolean;
    }
    interface IResult<T> {
      readonly button: IButton;
      readonly value: T | null;
    }
    function cancelButton(): IButton;
    function okButton(options: { label: string }): IButton;
    function warnButton(options: { label: string }): IButton;
  }
  export namespace InputDialog {
    function getNumber(options: {
      title: string;
      label: string;
      value: number;
      okLabel: string;
    }): Promise<Dialog.IResult<number>>;
  }
  export namespace InputDialog {
    function getText(options: {
      title: string;
      label: string;
      okLabel: string;
    }): Promise<Dialog.IResult<string>>;
  }
  export namespace Notification {
    interface IOptions {
      autoClose: number | false;
      actions?: { label: string; callback: () => void }[];
    }
    function error(message: string, options?: IOptions): string;
    function info(message: string, options?: IOptions): string;
    function warning(message: string, options?: IOptions): string;
  }
  export function showDialog<T>(options: {
    title: string;
    body: string | (Widget & { getValue(): T });
    buttons: Dialog.IButton[];
  }): Promise<Dialog.IResult<T>>;
  export function showErrorMessage(title: string, message: string): Promise<void>;
}

declare module '@jupyterlab/notebook' {
  import { ISignal } from '@lumino/signaling';
  import { Panel, Widget } from '@lumino/widgets';

  /** An output of a cell. toJSON() is its form in the notebook's file. */
  export interface IOutput {
    readonly streamText?: { readonly text: string; readonly changed: ISignal<unknown> };
    toJSON(): {
      readonly output_type: string;
      readonly name?: string;
      readonly text?: string | string[];
      readonly data?: Record<string, unknown>;
      readonly metadata?: Record<string, unknown>;
    };
  }
  export interface IRenderer extends Widget {
    renderModel(model: object): Promise<void>;
  }
  /** Shows one output: its prompt and its renderer. */
  export type IOutputPanel = Panel;
  export interface IOutputArea {
    future: import('@jupyterlab/services').IExecuteFuture;
    readonly node: HTMLElement;
    readonly isDisposed: boolean;
    readonly model: { readonly length: number; get(index: number): IOutput };
    readonly widgets: ReadonlyArray<IOutputPanel>;
    maxNumberOutputs: number;
    readonly outputLengthChanged: ISignal<number>;
    readonly rendermime: {
      createRenderer(mimeType: string): IRenderer;
      createModel(options: { data: Record<string, unknown>; trusted: boolean }): object;
    };
  }
  export interface ICell {
    readonly node: HTMLElement;
    readonly outputArea?: IOutputArea; // of a code cell
    readonly ready: Promise<void>;
    readonly model: {
      readonly id: string;
      executionCount?: number | null;
      readonly type: string;
      readonly sharedModel: { getSource(): string; setSource(text: string): void };
    };
  }
  export interface INotebook {
    readonly activeCell: ICell | null;
    readonly widgets: ReadonlyArray<ICell>;
    readonly modelContentChanged: ISignal<unknown>;
  }
  export interface INotebookPanel {
    readonly id: string;
    readonly content: INotebook;
    readonly toolbar: {
      insertItem(index: number, name: string, widget: import('@lumino/widgets').Widget): boolean;
    };
    readonly context: {
      readonly path: string;
      readonly isReady: boolean;
      readonly ready: Promise<void>;
      readonly contentsModel: { readonly last_modified: string } | null;
      readonly model: {
        getMetadata(key: string): unknown;
        setMetadata(key: string, value: unknown): void;
        deleteMetadata(key: string): void;
      };
    };
    readonly sessionContext: {
      readonly session: {
        readonly kernel: import('@jupyterlab/services').IKernelConnection | null;
      } | null;
      readonly connectionStatusChanged: import('@lumino/signaling').ISignal<string>;
      readonly iopubMessage: import('@lumino/signaling').ISignal<
        import('@jupyterlab/services').IIopubMessage
      >;
    };
  }
  export interface INotebookTracker {
    readonly currentWidget: { readonly content: INotebook } | null;
  }
  export const INotebookTracker: object;
  export namespace NotebookActions {
    function insertBelow(notebook: INotebook): void;
  }
}

declare module '@jupyterlab/application' {
  import { ServerConnection } from '@jupyterlab/services';
  import { Widget } from '@lumino/widgets';

  export interface ILayoutRestorer {
    add(widget: Widget, name: string): void;
  }
  export const ILayoutRestorer: object;
  export interface JupyterFrontEnd {
    readonly commands: { execute(id: string, options: object): Promise<unknown> };
    readonly docRegistry: {
      addWidgetExtension(
        factory: string,
        extension: {
          createNew(panel: import('@jupyterlab/notebook').INotebookPanel): { dispose(): void };
        }
      ): object;
    };
    readonly shell: {
      add(widget: Widget, area: string, options?: {rank: number}): void;
      activateById(id: string): void;
    };
    readonly serviceManager: { readonly serverSettings: ServerConnection.ISettings };
  }
  export interface JupyterFrontEndPlugin<T> {
    id: string;
    description: string;
    autoStart: boolean;
    optional: object[];
    activate(
      app: JupyterFrontEnd,
      restorer: ILayoutRestorer | null,
      notebooks: import('@jupyterlab/notebook').INotebookTracker | null
    ): T;
  }
}
