import * as z from 'zod';
import { amount, flag, link, part, text } from '../fields.ts';

/** Redfish ServiceRoot (DSP0268). Everything is optional: what a BMC does not offer is not used. */
export const serviceRoot = z.object({
  RedfishVersion: text,
  UUID: text,
  Vendor: text,
  Product: text,
  Systems: link,
  Managers: link,
  SessionService: link,
  EventService: link,
  AccountService: link,
  Links: part({ Sessions: link }),
  ProtocolFeaturesSupported: part({
    ExpandQuery: part({ NoLinks: flag, Levels: flag, MaxLevels: amount, ExpandAll: flag }),
  }),
});
export type ServiceRoot = z.output<typeof serviceRoot>;

/** Stands in for a root that is not shown to strangers: everything is looked for in the usual places. */
export const hiddenRoot = (): ServiceRoot =>
  serviceRoot.parse({ SessionService: { '@odata.id': '/redfish/v1/SessionService' } });

/** Where sessions are made; undefined where they are not offered. */
export function sessionsPath({ Links, SessionService }: ServiceRoot): string | undefined {
  return Links.Sessions ?? (SessionService === undefined ? undefined : `${SessionService}/Sessions`);
}

/**
 * Query that makes an answer bring along the resources it links to, so many levels deep, or fewer if the BMC goes no
 * deeper; undefined where the BMC does not advertise it.
 */
export function expandQuery({ ProtocolFeaturesSupported }: ServiceRoot, levels = 1): string | undefined {
  const { NoLinks, ExpandAll } = ProtocolFeaturesSupported.ExpandQuery;
  const depth = Math.min(levels, expandLevels(ProtocolFeaturesSupported.ExpandQuery));
  const suffix = depth > 1 ? `($levels=${depth})` : '';
  if (NoLinks === true) return `$expand=.${suffix}`;
  return ExpandAll === true ? `$expand=*${suffix}` : undefined;
}

function expandLevels({ Levels, MaxLevels }: ServiceRoot['ProtocolFeaturesSupported']['ExpandQuery']): number {
  return Levels === true ? (MaxLevels ?? 1) : 1;
}
