import { createHash } from 'node:crypto';

/*
 * The format of firmware images for simulated machines: one line of JSON, then the payload.
 *
 *   {"component":"BIOS","version":"1.4","manufacturer":"Supermicro","models":["SYS-121H-TNR"],"sha256":"…"}\n…
 */

/** What an image is for. */
export interface ImageHeader {
  /** Kind of the firmware (BIOS, BMC, NIC …), or the Id of a member of FirmwareInventory. */
  readonly component: string;
  readonly version: string;
  /** Manufacturer of the machines that it is for; undefined: all. */
  readonly manufacturer?: string | undefined;
  /** Models of the machines that it is for; undefined: all. */
  readonly models?: readonly string[] | undefined;
  /** SHA-256 of the payload, as hex. */
  readonly sha256: string;
}

export interface ImageOptions extends Omit<ImageHeader, 'sha256'> {
  /** Some bytes unless given. */
  readonly payload?: Uint8Array;
}

/** An image for simulated machines. */
export function firmwareImage({ payload, ...header }: ImageOptions): Uint8Array {
  const bytes = payload ?? Buffer.from(`payload of ${header.component} ${header.version}\n`.repeat(64));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return Buffer.concat([Buffer.from(`${JSON.stringify({ ...header, sha256 })}\n`), bytes]);
}

/** An image that a BMC has received. */
export interface ReceivedImage {
  /** Undefined when the first line is no header. */
  readonly header: ImageHeader | undefined;
  /** Bytes of the whole image. */
  readonly bytes: number;
  /** Of the payload, as hex. */
  readonly sha256: string;
}

const longestHeader = 4_096;

/** Reads an image chunk by chunk; keeps only its header and its digest. */
export class ImageReader {
  #head: Buffer | undefined = Buffer.alloc(0);
  #header: ImageHeader | undefined;
  #bytes = 0;
  readonly #hash = createHash('sha256');

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#head === undefined) return void this.#hash.update(chunk);
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf('\n');
    if (end < 0 && this.#head.length <= longestHeader) return;
    this.#header = headerIn(this.#head.subarray(0, Math.max(0, end)).toString('utf8'));
    this.#hash.update(this.#head.subarray(end + 1));
    this.#head = undefined;
  }

  end(): ReceivedImage {
    return { header: this.#header, bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}

function headerIn(line: string): ImageHeader | undefined {
  try {
    const { component, version, manufacturer, models, sha256 } = JSON.parse(line);
    if (typeof component !== 'string' || typeof version !== 'string' || typeof sha256 !== 'string') return undefined;
    return { component, version, manufacturer, models, sha256 };
  } catch {
    return undefined;
  }
}

export interface Download {
  readonly uri: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly maxBytes: number;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

/** In wall-clock time, as the server uses it. */
const downloadTimeoutMs = 60_000;

/** Downloads an image as a BMC does. @throws Error that says why it is not possible. */
export async function downloadImage({
  uri,
  username,
  password,
  maxBytes,
  fetch,
  signal,
}: Download): Promise<ReceivedImage> {
  const credentials = username === undefined ? undefined : `${username}:${password ?? ''}`;
  const response = await fetch(uri, {
    headers: {
      'user-agent': 'BMC',
      ...(credentials === undefined ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
    signal: AbortSignal.any([signal, AbortSignal.timeout(downloadTimeoutMs)]),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the server answered ${response.status}`);
  }
  const reader = new ImageReader();
  // A body is an async iterable of bytes, which its type leaves open.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    reader.add(chunk);
    if (reader.bytes > maxBytes) throw new Error(`the image is larger than ${maxBytes} bytes`);
  }
  return reader.end();
}
