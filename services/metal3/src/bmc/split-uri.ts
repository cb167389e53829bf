/**
 * Parts of a URI as net/url of Go finds them (RFC 3986). `URL` of JavaScript is no replacement: it follows the rules of browsers,
 * which differ for schemes that they do not know.
 */
export interface UriParts {
  /** In lower case; empty without one. */
  readonly scheme: string;
  /** Text after `scheme:` that does not begin with a slash. The other parts are empty then. */
  readonly opaque: string;
  /** Without brackets. */
  readonly host: string;
  /** Digits; empty without one. */
  readonly port: string;
  /** As it is written, with its escapes. */
  readonly path: string;
  readonly query: string;
}

/** Undefined for text that is no URI. */
export function splitUri(text: string): UriParts | undefined {
  if (hasControlCharacter(text)) return undefined;
  const [beforeFragment = ''] = text.split('#', 1);
  const scheme = schemeOf(beforeFragment);
  if (scheme === undefined) return undefined;
  const [rest, query] = cut(scheme === '' ? beforeFragment : beforeFragment.slice(scheme.length + 1), '?');
  const parts = { scheme: scheme.toLowerCase(), opaque: '', host: '', port: '', path: '', query };
  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...parts, opaque: rest };
    // Otherwise the text before the colon would be a scheme.
    const [segment = ''] = rest.split('/', 1);
    return segment.includes(':') || !isEscaped(rest) ? undefined : { ...parts, path: rest };
  }
  if (!rest.startsWith('//')) return isEscaped(rest) ? { ...parts, path: rest } : undefined;
  const slash = rest.indexOf('/', 2);
  const path = slash < 0 ? '' : rest.slice(slash);
  const authority = splitAuthority(rest.slice(2, slash < 0 ? undefined : slash));
  return authority === undefined || !isEscaped(path) ? undefined : { ...parts, ...authority, path };
}

/** Host and port of `host:port` or `[IPv6]:port`; undefined for other text. */
export function splitHostPort(text: string): { readonly host: string; readonly port: string } | undefined {
  const { host, ipv6, port } = /^(?:\[(?<ipv6>[^\][]*)\]|(?<host>[^:\][]*)):(?<port>\d+)$/.exec(text)?.groups ?? {};
  return port === undefined ? undefined : { host: ipv6 ?? host ?? '', port };
}

/** Undefined if a colon has nothing before it. */
function schemeOf(text: string): string | undefined {
  if (text.startsWith(':')) return undefined;
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1] ?? '';
}

function splitAuthority(authority: string): { host: string; port: string } | undefined {
  const hostAndPort = authority.slice(authority.lastIndexOf('@') + 1);
  const {
    host,
    ipv6,
    port = '',
  } = /^(?:\[(?<ipv6>[^\][]*)\]|(?<host>[^:\][]*))(?::(?<port>\d*))?$/.exec(hostAndPort)?.groups ?? {};
  const name = ipv6 ?? host;
  return name === undefined ? undefined : { host: name, port };
}

function cut(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Every percent sign begins an escape. */
const isEscaped = (text: string): boolean => !/%(?![0-9A-Fa-f]{2})/.test(text);

const hasControlCharacter = (text: string): boolean => /\p{Cc}/u.test(text);
