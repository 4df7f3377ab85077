/** Lists of the manifest that are written from the code, by `npm run menus`. */
import { themeColours } from "./themeColours";

export { customEditors, fileMenus } from "./menus";

/** `contributes.colors`. */
export const colors = Object.entries(themeColours).map(([id, { description, ...defaults }]) => ({
  id,
  description,
  defaults,
}));
