/**
 * `AA-BB-CC-00-11-22`, `aabb.cc00.1122` → `aa:bb:cc:00:11:22`; undefined for any other text. The result is safe in a
 * configuration file.
 */
export function macOf(text: string | undefined): string | undefined {
  const digits = (text ?? '').replace(/[:.-]/g, '').toLowerCase();
  return /^[0-9a-f]{12}$/.test(digits) ? inPairs(digits) : undefined;
}

/** `aa:bb:cc:00:11:22` → `aabbcc001122`, for names of tags, files and objects. */
export const digitsOf = (mac: string): string => mac.replaceAll(':', '');

/**
 * The patterns of dnsmasq for a prefix of 1 to 12 hex digits; undefined for any other text. dnsmasq matches whole octets, so a
 * prefix that ends within an octet has sixteen patterns.
 */
export function macPatternsOf(prefix: string): string[] | undefined {
  const digits = prefix.replace(/[:.-]/g, '').toLowerCase();
  if (!/^[0-9a-f]{1,12}$/.test(digits)) return undefined;
  const whole = digits.length % 2 === 0 ? [digits] : hexDigits.map((digit) => `${digits}${digit}`);
  return whole.map((octets) => inPairs(octets.padEnd(12, '*')).replaceAll('**', '*'));
}

const hexDigits = Array.from({ length: 16 }, (_, value) => value.toString(16));

const inPairs = (digits: string): string => (digits.match(/../g) ?? []).join(':');
