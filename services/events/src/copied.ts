/** Copies a substring that is kept: V8 would keep the whole string in memory for it. */
export const copied = (text: string): string => Buffer.from(text).toString();
