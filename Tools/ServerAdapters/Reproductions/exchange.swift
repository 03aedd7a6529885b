import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Sends a number of requests, one after the other, with one URLSession, and prints what that cost.
// Usage: exchange PORT COUNT
let address = URL(string: "http://127.0.0.1:\(CommandLine.arguments[1])/")
let count = Int(CommandLine.arguments[2]) ?? 1
let session = URLSession(configuration: .ephemeral)

/// Sends a request, and waits for its response.
func exchange() {
  guard let address else { return }
  let done = DispatchSemaphore(value: 0)
  session.dataTask(with: address) { _, response, error in
    if let error { print("error: \(error)") }
    done.signal()
  }.resume()
  done.wait()
}

/// The bytes of the process in memory.
func resident() -> Int {
  do {
    let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(
      separator: " ")
    return (Int(numbers[1]) ?? 0) * 4096
  } catch {
    return 0
  }
}

/// Seconds of processor time so far.
func processor() -> (user: Double, system: Double) {
  var now = tms()
  times(&now)
  let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
  return (Double(now.tms_utime) / ticks, Double(now.tms_stime) / ticks)
}

// The first exchanges fill caches.
if count > 1 { for _ in 0..<(count / 4) { exchange() } }
let (memory, time) = (resident(), processor())
for _ in 0..<count { exchange() }
let (after, end) = (resident(), processor())
if count > 1 {
  print("\(count) exchanges: \((after - memory) / count) bytes each stay in memory")
}
print(
  String(
    format: "processor: %.2f s of user time, %.2f s of system time", end.user - time.user,
    end.system - time.system))
