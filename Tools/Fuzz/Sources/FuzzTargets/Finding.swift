#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Ends the process with what a decoder got wrong; libFuzzer keeps the input.
func finding(_ text: @autoclosure () -> String) -> Never {
  // Not by print: what it buffers is lost with the process.
  let line = "FINDING: \(text())\n"
  line.withCString { _ = write(2, $0, strlen($0)) }
  abort()
}

/// A finding if `condition` does not hold.
func require(_ condition: Bool, _ text: @autoclosure () -> String) {
  if !condition { finding(text()) }
}
