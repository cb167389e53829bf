import type { IncomingMessage } from 'node:http';
import { ImageReader, type ReceivedImage } from './firmware-image.ts';

/** An image that a client sent to a push URI. */
export class PushedImage {
  readonly image: ReceivedImage;
  /** UpdateParameters of a form; undefined without a form. */
  readonly parameters: unknown;
  readonly isForm: boolean;

  constructor(image: ReceivedImage, isForm: boolean, parameters: unknown) {
    this.image = image;
    this.isForm = isForm;
    this.parameters = parameters;
  }
}

const longestFormHead = 64 * 1024;

/** Receives an image, as the body or as a form with UpdateParameters and then UpdateFile; an error for any other body. */
export async function receivePush(request: IncomingMessage, maxBytes: number): Promise<PushedImage | Error> {
  const reader = new ImageReader();
  const [, boundary] = /^multipart\/form-data;.*boundary="?([^";]+)/.exec(request.headers['content-type'] ?? '') ?? [];
  const form = boundary === undefined ? undefined : new FormReader(boundary, reader);
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    if (form === undefined) reader.add(chunk);
    else form.add(chunk);
    if (reader.bytes > maxBytes) throw new Error(`the image is larger than ${maxBytes} bytes`);
  }
  form?.end();
  if (form?.error !== undefined) return form.error;
  return new PushedImage(reader.end(), form !== undefined, form?.parameters);
}

/** Reads the two parts of a form; the image is not kept. */
class FormReader {
  parameters: unknown;
  error: Error | undefined;
  readonly #boundary: string;
  readonly #reader: ImageReader;
  #head: Buffer | undefined = Buffer.alloc(0);
  /** The last bytes, which may be the end of the form. */
  #held: Buffer = Buffer.alloc(0);

  constructor(boundary: string, reader: ImageReader) {
    this.#boundary = boundary;
    this.#reader = reader;
  }

  add(chunk: Uint8Array): void {
    if (this.#head === undefined) return this.#addToFile(chunk);
    this.#head = Buffer.concat([this.#head, chunk]);
    const file = this.#head.indexOf('name="UpdateFile"');
    const end = file < 0 ? -1 : this.#head.indexOf('\r\n\r\n', file);
    if (end < 0 && this.#head.length > longestFormHead) this.error = new Error('the form has no part UpdateFile');
    if (end < 0) return;
    this.#readParameters(this.#head.subarray(0, end).toString('utf8'));
    const rest = this.#head.subarray(end + 4);
    this.#head = undefined;
    this.#addToFile(rest);
  }

  end(): void {
    if (this.#head !== undefined) this.error ??= new Error('the form has no part UpdateFile');
    const end = this.#held.lastIndexOf(`\r\n--${this.#boundary}`);
    if (end < 0) this.error ??= new Error('the form is not complete');
    else this.#reader.add(this.#held.subarray(0, end));
  }

  #addToFile(chunk: Uint8Array): void {
    const all = Buffer.concat([this.#held, chunk]);
    const kept = this.#boundary.length + 16;
    this.#held = all.subarray(Math.max(0, all.length - kept));
    const known = all.subarray(0, Math.max(0, all.length - kept));
    if (known.length > 0) this.#reader.add(known);
  }

  #readParameters(head: string): void {
    const [, text] = /name="UpdateParameters"[^]*?\r\n\r\n([^]*?)\r\n--/.exec(head) ?? [];
    if (text === undefined) return void (this.error = new Error('the form has no part UpdateParameters'));
    try {
      this.parameters = JSON.parse(text);
    } catch {
      this.error = new Error('UpdateParameters are no JSON');
    }
  }
}
