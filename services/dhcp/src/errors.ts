import { type ErrorCatalogue, OperatorError } from '@metal/kube/errors.ts';

/** The errors of the DHCP service. */
export const dhcpErrorCatalogue = {
  DhcpOptionInvalid: {
    retry: 'blocked',
    meaning: 'An option of the DHCP service is not understood.',
    remedy: 'Correct the option that the message names.',
  },
  DnsmasqMissing: {
    retry: 'blocked',
    meaning: 'The program dnsmasq is not installed where the service runs.',
    remedy: 'Install dnsmasq (on Debian: dnsmasq-base), or use --dhcp=files with a dnsmasq elsewhere.',
  },
  DnsmasqRefused: {
    retry: 'blocked',
    meaning: 'The configuration that was written for dnsmasq is not understood by it.',
    remedy: 'Read what it says in the message; version 2.90 is known to work.',
  },
  DnsmasqDown: {
    retry: 'later',
    meaning:
      'The program dnsmasq did not listen for as long as the lease of DHCP lasts, so that another replica has its turn.',
    remedy: 'Read its last output in the message; most often another DHCP server on this host has port 67.',
  },
} as const satisfies ErrorCatalogue;

export type DhcpErrorCode = keyof typeof dhcpErrorCatalogue;

/** An error of the DHCP service. */
export class DhcpError extends OperatorError {
  declare readonly code: DhcpErrorCode;

  constructor(code: DhcpErrorCode, message: string, cause?: unknown) {
    super({ code, message, retry: dhcpErrorCatalogue[code].retry, cause });
  }
}
