import type { RedfishError, RedfishErrorCode } from '@metal/redfish/errors.ts';

/** Errors that concern the BMC as a whole: everything behind it has to wait. */
const bmcFailureCodes: ReadonlySet<RedfishErrorCode> = new Set([
  'AuthenticationFailed',
  'TlsUntrusted',
  'CertificateChanged',
  'Unreachable',
  'TimedOut',
  'CircuitOpen',
  'BadAnswer',
  'Busy',
]);

/** The BMC failed. A response 4xx is none: the BMC understood the request and rejected it. */
export const isBmcFailure = ({ code, status = 0 }: RedfishError): boolean =>
  bmcFailureCodes.has(code) || (code === 'HttpError' && status >= 500);
