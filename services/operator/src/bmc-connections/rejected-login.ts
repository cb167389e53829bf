import type { Server } from '@metal/api/v1alpha1/server.ts';

/** A login that a BMC rejected, as it stands in the status; of a BMC object with its generation. */
export type RejectedLogin = NonNullable<NonNullable<Server['status']>['rejectedLogin']> & {
  readonly generation?: number;
};

/** What a login at a BMC is made of. While all of it is as it was, a BMC that rejected it is not asked again. */
export type Login = Omit<RejectedLogin, 'message'>;

/** What a person can do whom no changed object tells of. */
export const retryLoginHint =
  'if password or rights were put right at the BMC, annotate the BMCSecret to have it tried';

export const isSameLogin = (one: Login | undefined, other: Login): boolean =>
  one?.bmcSecretVersion === other.bmcSecretVersion &&
  one.address === other.address &&
  one.generation === other.generation;
