/** Login of the BMCs of a fleet that names no other. */
export const fleetCredentials = { username: 'admin', password: 'fleet-password' } as const;
