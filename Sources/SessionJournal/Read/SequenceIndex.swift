/// The places of some batches, to find any sequence after a short read.
///
/// Holds at most 1,024 places. When it is full, every second place is dropped and the distance
/// doubles. So its memory does not grow with the file.
package struct SequenceIndex: Sendable {
  package static let capacity = 1024

  package init() {}

  private var places: [FramePosition] = []
  private var stride: UInt64 = 64 * 1024
  private var nextOffset: UInt64 = 0

  @inline(__always)
  package mutating func note(_ position: FramePosition) {
    if position.offset >= nextOffset { add(position) }
  }

  /// Returns the last known place of a batch that begins with `sequence` or an earlier one.
  package func place(before sequence: UInt64) -> FramePosition? {
    var low = 0
    var high = places.count
    while low < high {
      let middle = (low + high) / 2
      if places[middle].sequence <= sequence {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low == 0 ? nil : places[low - 1]
  }

  package var count: Int { places.count }

  private mutating func add(_ position: FramePosition) {
    if places.count == Self.capacity {
      places = places.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      stride *= 2
    }
    places.append(position)
    nextOffset = position.offset + stride
  }
}
