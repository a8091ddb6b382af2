/** What the viewer uses of PDF.js, as far as it uses it. */

export const folder: string;
export const AnnotationMode: { DISABLE: 0; ENABLE: 1 };
export const OPS: Record<string, number>;

export interface Viewport {
  width: number;
  height: number;
  scale: number;
  rotation: number;
}

export interface TextItem {
  str?: string;
  hasEOL?: boolean;
}

export interface TextContent {
  items: TextItem[];
}

export interface RenderTask {
  promise: Promise<void>;
  cancel(): void;
}

export interface Page {
  getViewport(of: { scale: number; offsetX?: number; offsetY?: number }): Viewport;
  getTextContent(): Promise<TextContent>;
  getOperatorList(): Promise<{ fnArray: number[] }>;
  render(into: {
    canvas: HTMLCanvasElement;
    viewport: Viewport;
    annotationMode?: number;
    background?: string;
  }): RenderTask;
  cleanup(): boolean;
}

export interface PdfDocument {
  numPages: number;
  getPage(number: number): Promise<Page>;
}

export class PDFDataRangeTransport {
  constructor(length: number, initialData: Uint8Array | null);
  onDataRange(begin: number, chunk: Uint8Array | null): void;
  requestDataRange(begin: number, end: number): void;
  abort(): void;
}

export class PDFWorker {
  constructor(of: { port: Worker; verbosity?: number });
  destroy(): void;
}

export function getDocument(source: Record<string, unknown>): {
  promise: Promise<PdfDocument>;
  destroy(): Promise<void>;
};

export class TextLayer {
  constructor(of: { textContentSource: TextContent; container: HTMLElement; viewport: Viewport });
  textDivs: HTMLElement[];
  render(): Promise<void>;
  cancel(): void;
}
