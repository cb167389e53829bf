import * as z from 'zod';
import { RedfishError } from '../errors.ts';
import { Bmc, type BmcOptions, type CallOptions } from '../http/bmc.ts';

/** The outcome of a login. `forbidden`: the BMC knows the account and denies it the login. */
export type LoginResult = 'accepted' | 'rejected' | 'forbidden';

/**
 * One request that needs a login, as the service root does not.
 * @throws RedfishError NotSupported when the service root names no resource that needs one.
 */
export async function verifyLogin(bmc: Bmc, options: CallOptions = {}): Promise<void> {
  const { Systems, Managers, Chassis, AccountService, SessionService, Links } = await bmc.root(options);
  const path = Systems ?? Managers ?? Chassis ?? AccountService ?? SessionService ?? Links.Sessions;
  const message = 'the service root names no resource by which the login could be verified';
  if (path === undefined) throw new RedfishError({ code: 'NotSupported', message });
  await bmc.get(path, z.unknown(), options);
}

/**
 * Tries a login with a client of its own, which is closed afterwards. The credentials are sent once: to open a session, or,
 * without sessions, with the first Basic request; twice only to a BMC that refuses sessions and may take Basic. Rejects when the BMC gave no answer to the login.
 */
export async function tryLogin(options: BmcOptions, { signal }: CallOptions = {}): Promise<LoginResult> {
  let isLoggedIn = false;
  const { observer } = options;
  await using bmc = new Bmc({
    ...options,
    limits: { ...options.limits, inFlight: 1 },
    observer: {
      request: (event) => observer?.request(event),
      breaker: () => undefined,
      sessions: (count) => {
        isLoggedIn ||= count > 0;
      },
    },
  });
  try {
    await verifyLogin(bmc, { signal });
    return 'accepted';
  } catch (error) {
    // A session was opened, so the password is right, even if the account has no right to read Systems.
    if (isLoggedIn && error instanceof RedfishError) return 'accepted';
    if (error instanceof RedfishError && error.status === 403) return 'forbidden';
    if (error instanceof RedfishError && error.code === 'AuthenticationFailed') return 'rejected';
    throw error;
  }
}
