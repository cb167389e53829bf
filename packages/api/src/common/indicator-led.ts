import * as z from 'zod';

/** What the locator light of a machine should do. Empty: leave it alone. */
export const indicatorLed = z.enum(['Unknown', 'Lit', 'Blinking', 'Off', '']);
