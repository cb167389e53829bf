/** Texts of devices may contain control characters, which move the cursor of a terminal or end a line. */
export const withoutControlCharacters = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ');
