/// Frames whose checksums hold, in any order and with any values: what mutation alone never reaches.
public enum FramesTarget {
  /// The input describes a file; see `FrameRecipe`.
  public static func check(_ input: [UInt8]) {
    var recipe = FrameRecipe(input)
    JournalTarget.check(file: recipe.cook())
  }
}
