import * as z from 'zod';
import { link } from './schemas.ts';

/** Redfish ServiceRoot (DSP0268). Everything is optional: what a BMC does not offer is not used. */
export const serviceRoot = z.object({
  RedfishVersion: z.string().nullish(),
  UUID: z.string().nullish(),
  Vendor: z.string().nullish(),
  Systems: link.nullish(),
  Managers: link.nullish(),
  SessionService: link.nullish(),
  Links: z.object({ Sessions: link.nullish() }).nullish(),
  ProtocolFeaturesSupported: z
    .object({
      ExpandQuery: z
        .object({
          NoLinks: z.boolean().nullish(),
          Levels: z.boolean().nullish(),
          MaxLevels: z.number().nullish(),
          ExpandAll: z.boolean().nullish(),
        })
        .nullish(),
    })
    .nullish(),
});
export type ServiceRoot = z.output<typeof serviceRoot>;

/** Where sessions are made; undefined where they are not offered. */
export function sessionsPath({ Links, SessionService }: ServiceRoot): string | undefined {
  return Links?.Sessions?.['@odata.id'] ?? (SessionService ? `${SessionService['@odata.id']}/Sessions` : undefined);
}

/** Query that makes a collection bring its members along, where the BMC advertises it. */
export function expandQuery({ ProtocolFeaturesSupported }: ServiceRoot): string | undefined {
  const expand = ProtocolFeaturesSupported?.ExpandQuery;
  if (expand?.NoLinks === true) return expand.Levels === true ? '?$expand=.($levels=1)' : '?$expand=.';
  return expand?.ExpandAll === true ? '?$expand=*($levels=1)' : undefined;
}
