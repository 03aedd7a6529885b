/// A check of frames with valid checksums, in any order and with any values, which mutation does
/// not reach.
public enum FramesTarget {
  /// Checks the file that the input describes; see `FrameRecipe`.
  public static func check(_ input: [UInt8]) {
    var recipe = FrameRecipe(input)
    JournalTarget.check(file: recipe.cook())
  }
}
