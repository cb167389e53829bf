import { settingsMethods } from './attributes/attribute-writes.ts';
import type { BmcState } from './bmc-state.ts';
import { root } from './links.ts';
import { isPush } from './update-service.ts';

const readMethods: readonly string[] = ['GET', 'HEAD'];

/** HTTP methods of the resource at a path, which must exist (DSP0266, header Allow). */
export const methodsAt = (bmc: BmcState, path: string): readonly string[] => [
  ...readMethods,
  ...(settingsMethods(bmc, path) ?? writeMethods(bmc, path)),
];

function writeMethods({ profile }: BmcState, path: string): readonly string[] {
  if (isPush({ profile }, path)) return ['POST'];
  const [area = '', kind, id, part, ...rest] = path.slice(root.length + 1).split('/');
  if (rest.length > 0) return [];
  switch (area) {
    case 'Systems':
      return isWritablePart([id, part].filter((name) => name !== undefined).join('/')) && kind !== undefined
        ? ['PATCH']
        : [];
    case 'AccountService':
      if (kind !== 'Accounts' || part !== undefined) return [];
      if (id === undefined) return profile.accountSlots === undefined ? ['POST'] : [];
      return profile.accountSlots !== undefined || id === factoryAccountId ? ['PATCH'] : ['PATCH', 'DELETE'];
    case 'SessionService':
    case 'EventService':
      if ((kind !== 'Sessions' && kind !== 'Subscriptions') || part !== undefined) return [];
      return id === undefined ? ['POST'] : ['DELETE'];
    default:
      return [];
  }
}

/** Of a system: itself and its settings object. */
const isWritablePart = (part: string): boolean => part === '' || part === 'Settings';

/** The account that cannot be deleted, where accounts are created. */
export const factoryAccountId = '1';
