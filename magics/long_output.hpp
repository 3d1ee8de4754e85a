#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>

#include "magics/cell_output.hpp"
#include "os/descriptor.hpp"
#include "wire/time.hpp"

namespace px::magics {

/// Limits the text that a cell shows in a notebook: pages become slow from a few MiB, and Jupyter's
/// server drops output that arrives faster than 1 MB/s. Text beyond the limit is not shown, but all
/// text of the cell is written to a file. Its name and the last lines appear in a display that is
/// updated. stdout and stderr each have a limit, so that errors are shown after any amount of
/// output. Passes everything else on to the screen. One thread uses it.
class LongOutput final : public CellOutput {
 public:
  struct OutputLimits {
    std::size_t bytes = 512 << 10;              ///< Of stdout, and of stderr.
    std::size_t last_lines = 10;                ///< The number of lines in the display.
    Duration period = std::chrono::seconds(1);  ///< The time between two updates of the display.
  };

  /// screen  it outlives this object; its displays can be updated.
  /// folder  the folder for the file, by default the current one; if it is not writable, the file
  ///         is written to the folder for temporary files.
  explicit LongOutput(CellOutput& screen) : LongOutput(screen, ".", {}) {}
  LongOutput(CellOutput& screen, std::filesystem::path folder, const OutputLimits& limits)
      : screen_(screen), folder_(std::move(folder)), limits_(limits) {}

  void perform(const Action& action) override;
  bool can_update() override { return screen_.can_update(); }
  bool shows_progress() override { return screen_.shows_progress(); }
  bool is_interrupted() override { return screen_.is_interrupted(); }
  void run_here(const std::string& code) override { screen_.run_here(code); }
  /// Completes the display: no further output will come.
  void end();

 private:
  void write(const WriteText& text);
  void begin_file();
  void save(std::string_view text);
  void keep_last_lines(std::string_view text);
  void show();
  std::string report() const;

  CellOutput& screen_;
  const std::filesystem::path folder_;
  const OutputLimits limits_;
  std::map<std::string, std::size_t> shown_;  // bytes, by stream
  std::string all_;                           // until there is a file
  std::filesystem::path path_;                // empty: nothing is hidden
  os::Descriptor file_;
  std::string problem_;  // why the file is not complete
  std::size_t bytes_ = 0, lines_ = 0;
  std::string last_lines_;
  std::string display_id_;
  bool is_display_there_ = false;
  Instant updated_{};
};

}  // namespace px::magics
