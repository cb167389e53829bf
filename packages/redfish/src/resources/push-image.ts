import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { randomUUID } from 'node:crypto';
import { type Bmc, type CallOptions, Upload, type WriteResponse } from '../http/bmc.ts';
import { RedfishError } from '../errors.ts';
import type { UpdateServiceResource } from '../update-schemas.ts';
import { applyTimeOf } from './apply-time.ts';
import { readFirmwareInventory } from './firmware-inventory.ts';
import type { ImageToPush, UpdateRequest } from './update-request.ts';

/** Time for the transfer of an image to a slow BMC, and for its check. */
const pushDeadlineMs = 30 * 60_000;

/**
 * Sends the image: as a multipart form with its parameters where the BMC takes one (DSP0266, UpdateService, multipart HTTP push),
 * as the body otherwise. It is streamed.
 */
export async function pushImage(
  bmc: Bmc,
  service: UpdateServiceResource,
  request: UpdateRequest,
  options: CallOptions,
): Promise<WriteResponse> {
  const { open } = request;
  const { MultipartHttpPushUri: formUri, HttpPushUri: bodyUri } = service;
  const { update } = bmc.traits;
  const uri = formUri ?? (update.pushesBody ? bodyUri : undefined);
  if (uri === undefined)
    throw new RedfishError({ code: 'NotSupported', message: 'the UpdateService takes no pushed images; use Pull' });
  if (open === undefined) throw new TypeError('a Push needs `open`');
  const call = { deadlineMs: pushDeadlineMs, ...options };
  const source = new ImageSource(open);
  const form = formUri === undefined ? undefined : await parametersOf(bmc, request, options);
  const parameters = form && { ...form, ...applyTimeOf(bmc, service, request) };
  try {
    return await bmc.post(uri, parameters === undefined ? bodyOf(source) : formOf(source, parameters), call);
  } catch (error) {
    throw source.error === undefined ? error : new ImageUnreadable(source.error);
  }
}

async function parametersOf(bmc: Bmc, { targets = [], component, force }: UpdateRequest, options: CallOptions) {
  const { pushNeedsTargets } = bmc.traits.update;
  const isMissing = targets.length === 0 && pushNeedsTargets && component !== undefined;
  return {
    Targets: isMissing ? await targetsFor(bmc, component, options) : targets,
    ...(force === true ? { ForceUpdate: true } : {}),
  };
}

async function targetsFor(bmc: Bmc, component: 'BIOS' | 'BMC', options: CallOptions): Promise<string[]> {
  const inventory = await readFirmwareInventory(bmc, options);
  return inventory.filter(({ kind, isStaged }) => kind === component && !isStaged).map(({ uri }) => uri);
}

/** The image could not be read: the BMC got none, or an incomplete one, which it does not install. */
export class ImageUnreadable extends Error {
  constructor(cause: unknown) {
    super(`the image cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'ImageUnreadable';
  }
}

/** Opens the image for each attempt, and remembers why it could not be read. */
class ImageSource {
  error: unknown;
  readonly #open: () => Promise<ImageToPush>;

  constructor(open: () => Promise<ImageToPush>) {
    this.#open = open;
  }

  async open(): Promise<{ size: number; stream: Readable; fileName: string }> {
    try {
      const { size, stream, fileName } = await this.#open();
      const source = readableOf(stream);
      return { size, fileName, stream: derived(this.#watch(source, size), source) };
    } catch (error) {
      this.error = error;
      throw error;
    }
  }

  /** The chunks of the image. @throws Error when they are not as many bytes as announced. */
  async *#watch(stream: Readable, size: number): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    try {
      for await (const chunk of stream) {
        bytes += chunk.length;
        if (bytes > size) break;
        yield chunk;
      }
      if (bytes !== size) throw new Error(`expected an image of ${size} bytes, found ${bytes > size ? 'more' : bytes}`);
    } catch (error) {
      this.error = error;
      throw error;
    }
  }
}

const readableOf = (stream: ReadableStream | Readable): Readable =>
  stream instanceof Readable ? stream : Readable.fromWeb(stream);

/** A stream that closes its source, also when nothing was read of it. */
const derived = (chunks: AsyncGenerator<Uint8Array>, source: Readable): Readable =>
  Readable.from(chunks).once('close', () => source.destroy());

const bodyOf = (source: ImageSource): Upload =>
  new Upload('application/octet-stream', async () => {
    const { size: length, stream } = await source.open();
    return { length, stream };
  });

/** The form of the standard: UpdateParameters as JSON, then UpdateFile. */
function formOf(source: ImageSource, parameters: object): Upload {
  const boundary = `metal-${randomUUID()}`;
  return new Upload(`multipart/form-data; boundary=${boundary}`, async () => {
    const { size, stream, fileName } = await source.open();
    const head = Buffer.from(
      [
        `--${boundary}`,
        'Content-Disposition: form-data; name="UpdateParameters"',
        'Content-Type: application/json',
        '',
        JSON.stringify(parameters),
        `--${boundary}`,
        `Content-Disposition: form-data; name="UpdateFile"; filename="${fileName.replaceAll(/[^\w.-]/g, '_')}"`,
        'Content-Type: application/octet-stream',
        '',
        '',
      ].join('\r\n'),
    );
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    return { length: head.length + size + tail.length, stream: derived(joined(head, stream, tail), stream) };
  });
}

async function* joined(head: Buffer, stream: Readable, tail: Buffer): AsyncGenerator<Uint8Array> {
  yield head;
  yield* stream;
  yield tail;
}
