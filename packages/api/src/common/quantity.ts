import { hinted } from '@metal/kube/cel.ts';
import * as z from 'zod';

const amount = '(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))';
export const quantityPattern = `^(\\+|-)?${amount}(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?${amount}))?$`;

/** A Kubernetes quantity: `512Gi`, `1500m`, or a plain number. */
export const quantity = hinted(z.union([z.string().regex(new RegExp(quantityPattern)), z.number()]), {
  'x-kubernetes-int-or-string': true,
  pattern: quantityPattern,
});

const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value of a quantity, for comparisons; undefined for what is none. Exact up to 2^53. */
export function quantityValue(text: string | number): number | undefined {
  if (typeof text === 'number') return text;
  if (!new RegExp(quantityPattern).test(text)) return undefined;
  const [, number = '', suffix = ''] = /^(.*?)([KMGTPE]i|[numkMGTPE])?$/.exec(text) ?? [];
  return Number(number) * (factors[suffix] ?? 1);
}
