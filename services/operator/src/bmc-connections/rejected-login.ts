import type { Server } from '@metal/api/v1alpha1/server.ts';

/** A rejected login as recorded in the status; for a BMC object with its generation. */
export type RejectedLogin = NonNullable<NonNullable<Server['status']>['rejectedLogin']> & {
  readonly generation?: number;
};

/** The parts of a login. While none of them changes, a rejected login is not sent again. */
export type Login = Omit<RejectedLogin, 'message'>;

/** The remedy if the login was fixed without a change of any object. */
export const retryLoginHint =
  'if password or rights were put right at the BMC, annotate the BMCSecret to have it tried';

export const isSameLogin = (one: Login | undefined, other: Login): boolean =>
  one?.bmcSecretVersion === other.bmcSecretVersion &&
  one.address === other.address &&
  one.generation === other.generation;
