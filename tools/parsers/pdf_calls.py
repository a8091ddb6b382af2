"""Functions of pdfium that are called for each letter and each object of a page, without ctypes' checks.

The checks of the arguments take longer than the functions. A page, its text and its objects are given as c_void_p;
objects are returned as their addresses, or None.
"""

from ctypes import CFUNCTYPE, addressof, c_double, c_int, c_uint, c_void_p, cast
from typing import Any

import pypdfium2.raw as raw


def _unchecked(function: Any, result: Any = c_int) -> Any:
    return CFUNCTYPE(result)(cast(function, c_void_p).value or 0)


def handle(pointer: Any) -> c_void_p:
    """Return a pointer of pypdfium2 as these functions take it."""
    return c_void_p(addressof(pointer.contents))


count_letters = _unchecked(raw.FPDFText_CountChars)
letter_at = _unchecked(raw.FPDFText_GetUnicode, c_uint)
letters_between = _unchecked(raw.FPDFText_GetText)
letter_box = _unchecked(raw.FPDFText_GetLooseCharBox)
letter_origin = _unchecked(raw.FPDFText_GetCharOrigin)
letter_matrix = _unchecked(raw.FPDFText_GetMatrix)
letter_size = _unchecked(raw.FPDFText_GetFontSize, c_double)
is_generated = _unchecked(raw.FPDFText_IsGenerated)
is_hyphen = _unchecked(raw.FPDFText_IsHyphen)
object_of_letter = _unchecked(raw.FPDFText_GetTextObject, c_void_p)
font_of = _unchecked(raw.FPDFTextObj_GetFont, c_void_p)
render_mode = _unchecked(raw.FPDFTextObj_GetTextRenderMode)
fill_colour = _unchecked(raw.FPDFPageObj_GetFillColor)
count_objects = _unchecked(raw.FPDFPage_CountObjects)
object_at = _unchecked(raw.FPDFPage_GetObject, c_void_p)
kind_of = _unchecked(raw.FPDFPageObj_GetType)
bounds_of = _unchecked(raw.FPDFPageObj_GetBounds)
draw_mode = _unchecked(raw.FPDFPath_GetDrawMode)
has_transparency = _unchecked(raw.FPDFPageObj_HasTransparency)
set_active = _unchecked(raw.FPDFPageObj_SetIsActive)
base_font_name = _unchecked(raw.FPDFFont_GetBaseFontName)
font_flags = _unchecked(raw.FPDFFont_GetFlags)
font_weight = _unchecked(raw.FPDFFont_GetWeight)
