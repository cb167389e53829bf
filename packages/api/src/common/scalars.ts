import { hinted } from '@metal/kube/cel.ts';
import * as z from 'zod';

export const int32 = hinted(z.int(), { format: 'int32' });
export const int64 = hinted(z.int(), { format: 'int64' });

/** A moment in RFC 3339. */
export const time = hinted(z.string(), { format: 'date-time' });
