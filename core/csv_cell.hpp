// A cell of a CSV file (RFC 4180) that a spreadsheet takes for what it is.
//
// A text that begins like a formula would be run by the one who opens the file: it gets an apostrophe in front, the spreadsheets'
// own sign for a text, unless it is a number. What already begins with an apostrophe and then like a formula gets one more, so
// that text_of_csv_cell() gives back every text.
#pragma once

#include <string>
#include <string_view>

namespace tuneband {

std::string csv_cell(std::string_view text);

// The text as it is, for a program that compares it: in quotes where it has to be, and no more.
std::string plain_csv_cell(std::string_view text);

// `cell`: without its quotes.
std::string text_of_csv_cell(std::string cell);

}  // namespace tuneband
