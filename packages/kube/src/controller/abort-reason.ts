/** Libraries wrap the reason of an abort in errors of their own. */
export const comesFrom = (error: unknown, reason: unknown, layers = 8): boolean =>
  error === reason || (layers > 0 && error instanceof Error && comesFrom(error.cause, reason, layers - 1));
