import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '@metal/kube/clock.ts';
import { parse } from 'yaml';
import * as z from 'zod';
import { type Artefact, fileArtefact, urlArtefact } from './artefact.ts';
import { BootError } from './errors.ts';

/** What it takes to boot: two files and what to tell the kernel. */
export interface BootImage {
  readonly kernel: Artefact;
  readonly initrd: Artefact;
  readonly commandLine: string;
}

export interface BootImagesOptions {
  /** Names images; read again when it changes. */
  mapFile: string | undefined;
  clock: Clock;
  fetch?: typeof globalThis.fetch | undefined;
}

const defaultCommandLine = 'ip=dhcp console=tty0 console=ttyS0,115200';
/** How long a look at an image's files counts; a thousand machines that boot it at once share one look. */
const checkedForMs = 30_000;
const failedForMs = 1_000;

// What iPXE would read as a second command must not come out of a file.
const commandLine = z
  .string()
  .regex(/^[ -~]*$/, 'must be one line of printable ASCII')
  .refine((text) => !/(^|\s)(\|\||&&)(\s|$)/.test(text), 'must not contain || or && as words');
const imageMap = z.record(
  z.string(),
  z.strictObject({ kernel: z.string().min(1), initrd: z.string().min(1), cmdline: commandLine.optional() }),
);
type ImageMap = z.output<typeof imageMap>;

/**
 * Finds the files behind an image reference:
 * a name in the image map; `http(s)://host/directory/` or `file:///directory/`, which hold `vmlinuz` and `initrd`.
 */
export class BootImages {
  readonly #options: BootImagesOptions;
  readonly #checks = new Map<string, { until: number; check: Promise<BootImage> }>();
  #map: { mtimeMs: number; images: ImageMap } | undefined;

  constructor(options: BootImagesOptions) {
    this.#options = options;
  }

  /** @throws BootError when the reference is not understood or the map cannot be read. */
  async resolve(reference: string | undefined): Promise<BootImage> {
    if (reference === undefined || reference === '')
      throw new BootError('ImageNotUnderstood', `spec.image is empty; ${understood}`);
    const images = await this.#readMap();
    const entry = Object.hasOwn(images, reference) ? images[reference] : undefined;
    if (entry !== undefined) {
      const at = (location: string) => this.#artefactAt(location);
      return { kernel: at(entry.kernel), initrd: at(entry.initrd), commandLine: entry.cmdline ?? defaultCommandLine };
    }
    const directory = directoryOf(reference);
    const at = (name: string) => this.#artefactAt(new URL(name, directory).href);
    return { kernel: at('vmlinuz'), initrd: at('initrd'), commandLine: defaultCommandLine };
  }

  /** Resolves and makes sure that both files are there. @throws BootError */
  async check(reference: string | undefined, signal: AbortSignal): Promise<BootImage> {
    const { clock } = this.#options;
    const key = reference ?? '';
    const known = this.#checks.get(key);
    if (known !== undefined && clock.now() < known.until) return known.check;
    const check = this.#look(reference, signal);
    const entry = { until: clock.now() + checkedForMs, check };
    this.#checks.set(key, entry);
    check.catch(() => (entry.until = clock.now() + failedForMs));
    if (this.#checks.size > 1_000) this.#checks.delete(this.#checks.keys().next().value ?? '');
    return check;
  }

  async #look(reference: string | undefined, signal: AbortSignal): Promise<BootImage> {
    const image = await this.resolve(reference);
    await image.kernel.check(signal);
    await image.initrd.check(signal);
    return image;
  }

  #artefactAt(location: string): Artefact {
    if (/^https?:\/\//i.test(location)) return urlArtefact(new URL(location), this.#options.fetch ?? globalThis.fetch);
    const path = location.startsWith('file://') ? fileURLToPath(location) : location;
    return fileArtefact(resolve(dirname(this.#options.mapFile ?? '/'), path));
  }

  async #readMap(): Promise<ImageMap> {
    const { mapFile } = this.#options;
    if (mapFile === undefined) return {};
    try {
      const { mtimeMs } = await stat(mapFile);
      if (this.#map?.mtimeMs !== mtimeMs)
        this.#map = { mtimeMs, images: parseImageMap(await readFile(mapFile, 'utf8')) };
      return this.#map.images;
    } catch (cause) {
      throw new BootError(
        'ImageMapUnreadable',
        `--boot-images: ${join(mapFile)}: ${cause instanceof Error ? cause.message : String(cause)}`,
        cause,
      );
    }
  }
}

/** @throws Error naming the entry that is wrong. */
export function parseImageMap(text: string): ImageMap {
  const result = imageMap.safeParse(parse(text) ?? {});
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(
    `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}; expected name: {kernel, initrd, cmdline}`,
  );
}

const understood =
  'understood are a name from the file of --boot-images, and http(s)://host/directory/ or file:///directory/ with the files vmlinuz and initrd in it; OCI references are not supported yet';

function directoryOf(reference: string): URL {
  const url = /^(https?|file):\/\//i.test(reference) ? URL.parse(reference) : null;
  if (url === null || (url.protocol === 'file:' && url.host !== ''))
    throw new BootError('ImageNotUnderstood', `image "${reference.slice(0, 200)}" is not understood; ${understood}`);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.search = '';
  url.hash = '';
  return url;
}
