/** How Arabic counts. */

/**
 * Write a number with what it counts, in the form that goes with the number; one and two are in the form alone.
 * @param {number} count
 * @param {string} one
 * @param {string} two
 * @param {string} few From 3 to 10, and hundreds with such an ending.
 * @param {string} many
 */
export function n(count, one, two, few, many) {
  if (count === 1) return one;
  if (count === 2) return two;
  const rest = count % 100;
  return `${count} ${rest >= 3 && rest <= 10 ? few : many}`;
}
