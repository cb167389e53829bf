/** How the certificate of a BMC is verified. Without any of these Node's certificate authorities are used. */
export interface BmcTls {
  /** Certificate authorities to trust instead of Node's, one or more PEM blocks. */
  readonly caPem?: string | undefined;
  /** SHA-256 of the one certificate to accept, hexadecimal, colons allowed; its names and dates are not checked. */
  readonly fingerprint?: string | undefined;
  /**
   * SHA-256 of a certificate that is accepted besides those of the authorities: the first that this BMC showed. Any other is
   * CertificateChanged.
   */
  readonly recordedFingerprint?: string | undefined;
  /** Accept any certificate. The password is then sent to any host that answers at the address. */
  readonly insecureSkipVerify?: boolean | undefined;
}

/** Where a management controller listens. */
export interface BmcEndpoint {
  readonly scheme: 'http' | 'https';
  /** IPv4 or IPv6 address (without brackets) or a host name. */
  readonly host: string;
  readonly port: number;
  readonly tls?: BmcTls | undefined;
}

/** `https://[fd00::1]:443`: the origin of every request, and the name of the BMC in messages. */
export function originOf({ scheme, host, port }: BmcEndpoint): string {
  return `${scheme}://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}:${port}`;
}

/**
 * The path of a link. Links and Location headers may be absolute URLs with a host name that only the BMC knows; they are
 * always followed at the configured endpoint, so that credentials are never sent to another host.
 */
export function pathOf(link: string): string {
  const [withoutFragment = ''] = link.split('#', 1);
  const path = withoutFragment.replace(/^https?:\/\/[^/]*/i, '');
  return path.startsWith('/') ? path : `/${path}`;
}
