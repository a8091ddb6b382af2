/** The texts of documents as they are read: the last few are kept, and asked after before they are shown again. */

/** @typedef {{document: Wire.Document, raw: Wire.RawText}} Content */

const KEPT = 4;

/** Reads documents. */
export class DocumentTexts {
  /** @param {Client} client */
  constructor(client) {
    this.client = client;
    /** By id, the last read one last. @type {Map<string, Content>} */
    this.kept = new Map();
  }

  /**
   * Read a document as it is today; its text comes over the wire only where it is not the one that was kept.
   * @param {string} documentId
   * @param {AbortSignal} signal
   * @param {(document: Wire.Document) => void} [known] Called once it is known what it is.
   * @returns {Promise<Content>}
   * @throws {import("../api/problem.js").Problem}
   */
  async read(documentId, signal, known) {
    const kept = this.kept.get(documentId);
    this.kept.delete(documentId);
    // The text is asked for behind what is known of it, so a change between the two is seen the next time.
    const document = await this.client.document(documentId);
    signal.throwIfAborted();
    known?.(document);
    const same = kept?.document.updated_at === document.updated_at && kept.document.segments === document.segments;
    const raw = kept && same ? kept.raw : await this.client.json(`api/documents/${documentId}/raw-text`, { list: "segments", signal });
    const content = { document, raw };
    this.kept.set(documentId, content);
    for (const oldest of [...this.kept.keys()].slice(0, -KEPT)) this.kept.delete(oldest);
    return content;
  }
}
