import * as z from 'zod';
import { RedfishError } from '../errors.ts';
import { Bmc, type BmcOptions, type CallOptions } from '../http/bmc.ts';

/** The outcome of a login. `forbidden`: the BMC knows the account and denies it the login. */
export type LoginResult = 'accepted' | 'rejected' | 'forbidden';

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
    const { Systems, Managers, AccountService, SessionService } = await bmc.root({ signal });
    // Any resource that needs a login.
    const path = Systems ?? Managers ?? AccountService ?? SessionService ?? '/redfish/v1/';
    await bmc.get(path, z.unknown(), { signal });
    return 'accepted';
  } catch (error) {
    // A session was opened, so the password is right, even if the account has no right to read Systems.
    if (isLoggedIn && error instanceof RedfishError) return 'accepted';
    if (error instanceof RedfishError && error.status === 403) return 'forbidden';
    if (error instanceof RedfishError && error.code === 'AuthenticationFailed') return 'rejected';
    throw error;
  }
}
