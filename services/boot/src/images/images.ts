import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerBootConfiguration } from '@metal/api/v1alpha1/server-boot-configuration.ts';
import { readYamlFile, validateFile, type Warn } from '@metal/api/common/file-content.ts';
import type { Clock } from '@metal/kube/runtime/clock.ts';
import * as z from 'zod';
import { type Artefact, fileArtefact, urlArtefact } from './artefact.ts';
import { type BootPlan, planOf, type Way, type BootImage } from './boot-plan.ts';
import { claimedArtefact } from './claimed-url.ts';
import { ConfigError } from '@metal/kube/config-error.ts';
import { BootError } from '../errors.ts';
import { hasUserInfo, originNotAllowed, printableImage } from './image-url.ts';
import type { OciImages } from './oci/oci-images.ts';
import { parseImageReference } from './oci/reference.ts';

export interface BootImagesOptions {
  /** Names images; reloaded after changes. */
  mapFile: string | undefined;
  /** For a file that is no longer valid. */
  log?: Warner | undefined;
  /** Claims may use files below these directories. */
  fileRoots?: readonly string[] | undefined;
  /** Without it, OCI images are rejected. */
  oci?: OciImages | undefined;
  /** The URLs that claims may use; by default none. */
  byUrl?: ImagesByUrl | undefined;
  /** The discovery image of the administrator, which may have any URL. */
  ownImage?: string | undefined;
  clock: Clock;
  /** For URLs of the administrator. */
  fetch?: typeof globalThis.fetch | undefined;
}

export interface Warner {
  warn(fields: object, text: string): void;
}

export interface ImagesByUrl {
  readonly allowedOrigins: readonly string[];
  /** Connects to no refused address. */
  readonly fetch: typeof globalThis.fetch;
}

/** The prepared digest, if it belongs to the current spec.image. */
export function preparedDigestOf({ spec, status }: ServerBootConfiguration): string | undefined {
  return status?.boot?.image === spec.image ? status?.boot?.digest : undefined;
}

/** Selects an image in addition to its reference. */
export interface Choice {
  /** As in OCI: amd64, arm64. */
  readonly architecture?: string | undefined;
  /** Of the manifest that was chosen before; the tag may have moved. */
  readonly digest?: string | undefined;
}

const defaultCommandLine = 'ip=dhcp console=tty0 console=ttyS0,115200';
/** The parameters that published bare-metal images need; the kernel ignores consoles that a machine lacks. */
const ociCommandLine =
  'ip=any console=ttyS0,115200 console=tty0 console=ttyAMA0 earlyprintk=ttyS0,115200 consoleblank=0';
/** Checks are cached: a thousand machines that boot an image at the same time share one. */
const checkedForMs = 30_000;
const failedForMs = 1_000;

// iPXE would run the text after || or && as another command.
const commandLine = z
  .string()
  .regex(/^[ -~]*$/, 'must be one line of printable ASCII')
  .refine((text) => !/(^|\s)(\|\||&&)(\s|$)/.test(text), 'must not contain || or && as words');
const place = z
  .string()
  .min(1)
  .refine((text) => !hasUserInfo(text), 'must not have a user name or password in its URL')
  .optional();
const imageMap = z.record(
  z.string(),
  z
    .object({
      kernel: place,
      initrd: place,
      uki: place,
      cmdline: commandLine.optional(),
    })
    .refine(
      ({ kernel, initrd }) => (kernel === undefined) === (initrd === undefined),
      'kernel and initrd belong together',
    )
    .refine(({ kernel, uki }) => (kernel ?? uki) !== undefined, 'must have kernel and initrd, or uki'),
);
type ImageMap = z.output<typeof imageMap>;

/**
 * Resolves image references: a name in the image map; `http(s)://host/directory/` or `file:///directory/` with the files `vmlinuz`
 * and `initrd`; or the reference of an OCI image.
 */
export class BootImages {
  readonly #options: BootImagesOptions;
  readonly #checks = new Map<string, { until: number; check: Promise<BootPlan> }>();
  #map: { mtimeMs: number; images: ImageMap } | undefined;
  /** Of the current file; undefined while it is valid. */
  #mapError: string | undefined;

  constructor(options: BootImagesOptions) {
    this.#options = options;
  }

  /** @throws BootError if the reference is invalid or cannot be resolved */
  async resolve(reference: string | undefined, choice: Choice = {}, signal?: AbortSignal): Promise<BootImage> {
    const name = reference ?? '';
    if (name === '') throw new BootError('ImageNotUnderstood', `spec.image is empty; ${understood}`);
    const images = await this.#readMap();
    const entry = Object.hasOwn(images, name) ? images[name] : undefined;
    if (entry !== undefined) {
      const { cmdline: commandLine = defaultCommandLine, ...places } = entry;
      const artefacts = Object.entries(places).flatMap(([layer, place]) =>
        place === undefined ? [] : [[layer, this.#artefactAt(place)]],
      );
      return { name, commandLine, ...Object.fromEntries(artefacts) };
    }
    const directory = directoryOf(name);
    return directory === undefined ? this.#ociImage(name, choice, signal) : this.#imageBelow(directory, name);
  }

  async #imageBelow(directory: URL, name: string): Promise<BootImage> {
    const at = this.#filesBelow(directory, name);
    if (directory.protocol === 'file:')
      for (const file of ['vmlinuz', 'initrd']) await this.#requireBelowRoots(fileURLToPath(new URL(file, directory)));
    return { name, kernel: at('vmlinuz'), initrd: at('initrd'), commandLine: defaultCommandLine };
  }

  /**
   * Resolves the image, selects a boot method and checks its files; those of registries are pulled.
   * @throws BootError
   */
  async check(
    reference: string | undefined,
    signal: AbortSignal,
    choice: Choice = {},
    way: Way = {},
  ): Promise<BootPlan> {
    const { clock } = this.#options;
    const key = JSON.stringify([reference ?? '', choice.architecture, choice.digest, way.capable, way.failedAttempts]);
    const known = this.#checks.get(key);
    if (known !== undefined && clock.now() < known.until) return known.check;
    const check = this.#checkNow(reference, signal, choice, way);
    // A running check does not expire.
    const entry = { until: Number.POSITIVE_INFINITY, check };
    this.#checks.set(key, entry);
    const countsFor = (ms: number) => () => (entry.until = clock.now() + ms);
    check.then(countsFor(checkedForMs), countsFor(failedForMs));
    if (this.#checks.size > 1_000) this.#checks.delete(this.#checks.keys().next().value ?? '');
    return check;
  }

  async #checkNow(reference: string | undefined, signal: AbortSignal, choice: Choice, way: Way): Promise<BootPlan> {
    const image = await this.resolve(reference, choice, signal);
    const plan = planOf(image, way);
    for (const artefact of plan.artefacts) await artefact.check(signal);
    return plan;
  }

  /** @throws BootError ImageOriginNotAllowed */
  #filesBelow(directory: URL, name: string): (file: string) => Artefact {
    const { byUrl, ownImage } = this.#options;
    if (directory.protocol === 'file:' || name === ownImage)
      return (file) => this.#artefactAt(new URL(file, directory).href);
    if (byUrl?.allowedOrigins.includes(directory.origin) === true)
      return (file) => claimedArtefact(new URL(file, directory), byUrl.fetch);
    throw originNotAllowed(directory);
  }

  async #ociImage(name: string, choice: Choice, signal: AbortSignal | undefined): Promise<BootImage> {
    const { oci } = this.#options;
    const reference = parseImageReference(name);
    if (reference === undefined || oci === undefined)
      throw new BootError('ImageNotUnderstood', `image "${printableImage(name)}" is not understood; ${understood}`);
    const { digest, artefacts } = await oci.resolve(reference, choice, signal);
    return { name, ...artefacts, digest, commandLine: ociCommandLine };
  }

  /** Symbolic links are resolved. */
  async #requireBelowRoots(path: string): Promise<void> {
    const { fileRoots = [] } = this.#options;
    const actual = await realpath(path).catch(() => resolve(path));
    const roots = await Promise.all(fileRoots.map((root) => realpath(root).catch(() => resolve(root))));
    if (roots.some((root) => actual === root || actual.startsWith(root.endsWith(sep) ? root : `${root}${sep}`))) return;
    throw new BootError('FileNotAllowed', `${path} is not below a directory that --boot-file-roots names`);
  }

  #artefactAt(location: string): Artefact {
    if (/^https?:\/\//i.test(location)) return urlArtefact(new URL(location), this.#options.fetch ?? globalThis.fetch);
    const path = location.startsWith('file://') ? fileURLToPath(location) : location;
    return fileArtefact(resolve(dirname(this.#options.mapFile ?? '/'), path));
  }

  /** An invalid file leaves the last valid content in use: it concerns machines that run, too. */
  async #readMap(): Promise<ImageMap> {
    const { mapFile, log } = this.#options;
    if (mapFile === undefined) return {};
    try {
      const { mtimeMs } = await stat(mapFile);
      // What the file has at the start is reported where all files are checked.
      const warn: Warn | undefined =
        this.#map && ((reason) => log?.warn({ reason }, 'part of the image file has no effect'));
      if (this.#map?.mtimeMs !== mtimeMs) this.#map = { mtimeMs, images: readImageMap(mapFile, warn) };
      this.#mapError = undefined;
      return this.#map.images;
    } catch (cause) {
      const message = cause instanceof ConfigError ? cause.message : `--boot-images: ${mapFile}: ${messageOf(cause)}`;
      if (this.#map === undefined) throw new BootError('ImageMapUnreadable', message, cause);
      this.#logMapError(message);
      return this.#map.images;
    }
  }

  #logMapError(error: string): void {
    if (error === this.#mapError) return;
    this.#mapError = error;
    this.#options.log?.warn({ error }, 'the image file is invalid; its last valid content stays in use');
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Unknown keys are one warning. @throws ConfigError with the path, and the key, the expectation and the finding of each error */
export function readImageMap(path: string, warn: Warn = () => undefined): ImageMap {
  const source = { flag: 'boot-images', path };
  return validateFile(source, { schema: imageMap, content: readYamlFile(source), warn });
}

const understood =
  'expected a name of --boot-images, an OCI reference, or the URL of a directory with vmlinuz and initrd';

/** Undefined unless it starts with a URL scheme. */
function directoryOf(reference: string): URL | undefined {
  if (!/^(https?|file):\/\//i.test(reference)) return undefined;
  const url = URL.parse(reference);
  if (url === null || (url.protocol === 'file:' && url.host !== ''))
    throw new BootError('ImageNotUnderstood', `image "${printableImage(reference)}" is not understood; ${understood}`);
  if (hasUserInfo(reference))
    throw new BootError('ImageNotUnderstood', 'the URL of the image has a user name or password; remove it');
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  url.search = '';
  url.hash = '';
  return url;
}
