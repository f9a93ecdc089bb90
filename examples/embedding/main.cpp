// Runs a network that clopt compiled, from its description: no code of clopt, no Python.
//
//     embedding program.json weights.safetensors PLATFORM INPUT...
//
// The inputs are files of raw elements, in the order of the description; the outputs become
// output0.bin and so on. PLATFORM is a part of the name of an OpenCL platform.
#include "program.h"

#include <fstream>
#include <iostream>
#include <stdexcept>

using Context = Owner<cl_context, clReleaseContext>;
using Queue = Owner<cl_command_queue, clReleaseCommandQueue>;

static cl_device_id find_device(const std::string &part) {
    cl_uint count = 0;
    check(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (cl_platform_id platform : platforms) {
        char name[256] = "";
        cl_device_id device = nullptr;
        clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name, name, nullptr);
        if (std::string(name).find(part) != std::string::npos &&
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) {
            return device;
        }
    }
    throw std::runtime_error("no OpenCL platform is called \"" + part + "\"");
}

static std::string contents(const Port &port, const std::string &path) {
    std::string found = read_file(path);
    if (found.size() != port.bytes) {
        throw std::runtime_error(path + " has " + std::to_string(found.size()) + " bytes, but " +
                                 port.name + " has " + std::to_string(port.bytes));
    }
    return found;
}

static void run(const std::string &path, const std::string &weights, const std::string &platform,
                const std::vector<std::string> &files) {
    const Json description = Json::parse(read_file(path));
    const std::vector<Port> inputs = Program::ports(description, "inputs");
    const std::vector<Port> outputs = Program::ports(description, "outputs");
    if (files.size() != inputs.size()) {
        throw std::runtime_error("the network has " + std::to_string(inputs.size()) + " inputs");
    }
    cl_int status = CL_SUCCESS;
    cl_device_id device = find_device(platform);
    const Context context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    check(status, "clCreateContext");
    const Queue queue(clCreateCommandQueue(context.get(), device, 0, &status));
    check(status, "clCreateCommandQueue");

    std::map<std::string, cl_mem> buffers;
    std::vector<Buffer> owned;
    for (const std::vector<Port> *ports : {&inputs, &outputs}) {
        for (const Port &port : *ports) {
            const std::size_t bytes = port.bytes ? port.bytes : 1;
            owned.emplace_back(
                clCreateBuffer(context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
            check(status, "clCreateBuffer");
            buffers[port.name] = owned.back().get();
        }
    }
    for (std::size_t i = 0; i < inputs.size(); i++) {
        const std::string bytes = contents(inputs[i], files[i]);
        check(clEnqueueWriteBuffer(queue.get(), owned[i].get(), CL_TRUE, 0, bytes.size(),
                                   bytes.data(), 0, nullptr, nullptr),
              "clEnqueueWriteBuffer");
    }
    const Program program(description, weights, context.get(), device, buffers);
    program.enqueue(queue.get());
    program.enqueue(queue.get()); // as often as there are images; nothing is set up again
    for (std::size_t i = 0; i < outputs.size(); i++) {
        std::string bytes(outputs[i].bytes, '\0');
        check(clEnqueueReadBuffer(queue.get(), owned[inputs.size() + i].get(), CL_TRUE, 0,
                                  bytes.size(), bytes.data(), 0, nullptr, nullptr),
              "clEnqueueReadBuffer");
        const std::string name = "output" + std::to_string(i) + ".bin";
        std::ofstream(name, std::ios::binary) << bytes;
        std::cout << name << ": " << outputs[i].name << ", " << outputs[i].type << ", "
                  << bytes.size() << " bytes\n";
    }
}

int main(int count, char **words) {
    if (count < 4) {
        std::cerr << "usage: embedding program.json weights.safetensors PLATFORM INPUT...\n";
        return 2;
    }
    try {
        run(words[1], words[2], words[3], {words + 4, words + count});
    } catch (const std::exception &error) {
        std::cerr << "embedding: " << error.what() << ".\n";
        return 1;
    }
    return 0;
}
