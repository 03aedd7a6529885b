import Testing

@testable import ReplayCommands

@Suite("ProgressLine")
struct ProgressLineTests {
  @Test("RPL-4 a progress line shows how much is done, and never more than 100 %")
  func line() {
    var line = ProgressLine(
      bytes: 410_000_000, allBytes: 1_000_000_000, files: 4_102, allFiles: 10_000, elapsed: 2_000)
    #expect(line.text == "[#########···············] 41 %  4,102 of 10,000 files  205 MB/s")
    line.bytes = 2_000_000_000
    #expect(line.text.hasPrefix("[########################] 100 %  4,102 of"))
    line = ProgressLine(bytes: 0, allBytes: 0, files: 0, allFiles: 1, elapsed: 0)
    #expect(line.text == "[························] 0 %  0 of 1 file  0 MB/s")
    line = ProgressLine(
      bytes: .max, allBytes: .max, files: .max, allFiles: .max, elapsed: 1)
    #expect(line.text.contains(" 100 % "))
  }

  @Test("nothing is shown in the first second or without a terminal")
  func quiet() {
    for isTerminal in [true, false] {
      let seen = CollectedOutput(isTerminal: isTerminal)
      let bar = ProgressBar(Output(seen, interruption: Interruption()), now: { 0 })
      bar.show { _ in ProgressLine(bytes: 1, allBytes: 2, files: 1, allFiles: 2, elapsed: 3) }
      bar.erase()
      #expect(seen.text.isEmpty)
    }
  }

  @Test("after a second a line is shown, ten times a second, and erased at the end")
  func shown() {
    let seen = CollectedOutput(isTerminal: true)
    var time: UInt64 = 500
    let bar = ProgressBar(Output(seen, interruption: Interruption()), now: { time })
    var asked: [UInt64] = []
    for moment in [1_499, 1_500, 1_550, 1_599, 1_600, 1_601] as [UInt64] {
      time = moment
      bar.show { elapsed in
        asked.append(elapsed)
        return ProgressLine(bytes: 1, allBytes: 2, files: 1, allFiles: 2, elapsed: elapsed)
      }
    }
    #expect(asked == [1_000, 1_100])
    bar.erase()
    #expect(seen.text.hasPrefix("\r[############············] 50 %  1 of 2 files"))
    #expect(seen.text.hasSuffix("\r\u{1B}[K"))
    #expect(seen.text.split(separator: "\r").count == 3)
  }
}
