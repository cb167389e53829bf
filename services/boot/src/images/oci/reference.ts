/** Where an image lies: Docker's grammar, with its short names filled in. */
export interface ImageReference {
  /** Host and perhaps port, in lower case; every name of the Docker Hub is docker.io. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string | undefined;
  /** Wins over the tag. */
  readonly digest: string | undefined;
}

const hub = 'docker.io';
const namesOfHub = new Set([hub, 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com']);
const maxNameLength = 255;

const host =
  /^(?:(?:[a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9])(?:\.(?:[a-z0-9]|[a-z0-9][a-z0-9-]*[a-z0-9]))*|\[[0-9a-f:]+\])(?::\d{1,5})?$/;
const repository = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;
const tag = /^\w[\w.-]{0,127}$/;
export const isDigest = (text: string): boolean => /^sha256:[0-9a-f]{64}$/.test(text);

/** Undefined when the text is no reference. */
export function parseImageReference(text: string): ImageReference | undefined {
  const [named = '', digest, ...more] = text.split('@');
  const colon = named.lastIndexOf(':');
  const hasTag = colon > named.lastIndexOf('/');
  const name = hasTag ? named.slice(0, colon) : named;
  const wantedTag = hasTag ? named.slice(colon + 1) : undefined;
  const { registry, path } = splitName(name);
  if (more.length > 0 || name.length > maxNameLength || !host.test(registry) || !repository.test(path))
    return undefined;
  if (wantedTag !== undefined && !tag.test(wantedTag)) return undefined;
  if (digest !== undefined && !isDigest(digest)) return undefined;
  const tagOrLatest = wantedTag ?? (digest === undefined ? 'latest' : undefined);
  return { registry, repository: path, tag: tagOrLatest, digest };
}

/** The first part is a host only if it looks like one; anything else is a name at the Docker Hub. */
function splitName(name: string): { registry: string; path: string } {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const registry = canonicalRegistry(isHost ? first : hub);
  const rest = isHost ? name.slice(slash + 1) : name;
  return { registry, path: registry === hub && !rest.includes('/') ? `library/${rest}` : rest };
}

/** One name per registry, however it is written. */
export function canonicalRegistry(name: string): string {
  const lower = name.trim().toLowerCase();
  return namesOfHub.has(lower) ? hub : lower;
}

/** The host that answers for a registry. */
export const apiHostOf = (registry: string): string => (registry === hub ? 'registry-1.docker.io' : registry);

export const nameOf = ({ registry, repository }: ImageReference): string => `${registry}/${repository}`;

export const textOf = (reference: ImageReference): string =>
  `${nameOf(reference)}${reference.tag === undefined ? '' : `:${reference.tag}`}${reference.digest === undefined ? '' : `@${reference.digest}`}`;
