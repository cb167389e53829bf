import * as z from 'zod';

/** A power state that somebody wants a server to have. */
export const power = z.enum(['On', 'Off']);
