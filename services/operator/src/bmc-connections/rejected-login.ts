import type { Server } from '@metal/api/v1alpha1/server.ts';

/** A rejected login as recorded in the status; for a BMC object with its generation. */
export type RejectedLogin = NonNullable<NonNullable<Server['status']>['rejectedLogin']> & {
  readonly generation?: number;
};

/** The parts of a login. While none of them changes, a rejected login is not sent again. */
export type Login = Omit<RejectedLogin, 'message'>;

/** The remedy. Any change of the BMCSecret has the login tried again, also the annotation. */
export const retryLoginHint = 'correct its BMCSecret, or the account and annotate it (tried-again=<time>)';

export const isSameLogin = (one: Login | undefined, other: Login): boolean =>
  one?.bmcSecretVersion === other.bmcSecretVersion &&
  one.address === other.address &&
  one.generation === other.generation;
