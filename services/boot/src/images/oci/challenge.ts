/** The authentication that a registry requires (RFC 9110, WWW-Authenticate). */
export type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer';
      readonly realm: string;
      readonly service: string | undefined;
      readonly scope: string | undefined;
    };

/** Prefers Bearer to Basic. Undefined for other schemes. */
export function parseChallenge(header: string | null): Challenge | undefined {
  const [, parameters] = /(?:^|[\s,])bearer\s+(.*)$/is.exec(header ?? '') ?? [];
  const of = (name: string): string | undefined =>
    new RegExp(`(?:^|[\\s,])${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s,"]+))`, 'i')
      .exec(parameters ?? '')
      ?.slice(1)
      .find((value) => value !== undefined)
      ?.replace(/\\(.)/g, '$1');
  const realm = of('realm');
  if (realm !== undefined) return { scheme: 'bearer', realm, service: of('service'), scope: of('scope') };
  return /(?:^|[\s,])basic(?:\s|$|,)/i.test(header ?? '') ? { scheme: 'basic' } : undefined;
}
